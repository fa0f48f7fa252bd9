/* See radar_420.h for what is promised. Nothing here allocates, waits or prints. */
#include "radar_420.h"

#include <string.h>

static const double LOOP_ZERO = 4.0;   /* mA */
static const double LOOP_SPAN = 16.0;  /* mA */

double radar_current(const radar_mount *mount, double volts)
{
    return volts / mount->shunt_ohms * 1000.0;
}

radar_status radar_check(double milliamperes)
{
    if (milliamperes < 3.6)
        return RADAR_BROKEN_LOOP;
    if (milliamperes < 3.8)
        return RADAR_NO_ECHO;
    if (milliamperes > 21.0)
        return RADAR_FAULT;
    return RADAR_OK;
}

/* Between 3.8 and 4 and between 20 and 21 mA the scale simply goes on, as the maker allows. */
static double distance_of(const radar_mount *mount, double milliamperes)
{
    double part = (milliamperes - LOOP_ZERO) / LOOP_SPAN;
    return mount->near_end + part * (mount->far_end - mount->near_end);
}

static void remember(radar_state *state, double distance)
{
    state->distance[state->count % RADAR_SAMPLES] = distance;
    state->count++;
}

/*
 * The middle one of the last five. A gull that stands in the beam for two samples out of five
 * is not seen at all; one that stays for three is measured with care.
 */
static double median(const radar_state *state)
{
    double sorted[RADAR_SAMPLES];
    memcpy(sorted, state->distance, sizeof sorted);
    for (int i = 1; i < RADAR_SAMPLES; i++) {
        double value = sorted[i];
        int j = i - 1;
        while (j >= 0 && sorted[j] > value) {
            sorted[j + 1] = sorted[j];
            j--;
        }
        sorted[j + 1] = value;
    }
    return sorted[RADAR_SAMPLES / 2];
}

radar_status radar_level(const radar_mount *mount, radar_state *state, double volts, double *level)
{
    double milliamperes = radar_current(mount, volts);
    radar_status status = radar_check(milliamperes);
    if (status != RADAR_OK)
        return status;
    remember(state, distance_of(mount, milliamperes));
    if (state->count < RADAR_SAMPLES)
        return RADAR_NOT_SETTLED;
    *level = mount->face_height - median(state);
    return RADAR_OK;
}
