/*
 * Driver for a radar level gauge with a current loop of 4 to 20 milliamperes.
 *
 * The gauge looks down and reports the distance to the water as a current: 4 mA at the near end
 * of its range, 20 mA at the far end. A broken cable gives no current at all, which is why the
 * scale does not begin at zero.
 */
#ifndef RADAR_420_H
#define RADAR_420_H

#include <stdint.h>

/* What can be wrong with a reading. */
typedef enum {
    RADAR_OK = 0,
    RADAR_BROKEN_LOOP,  /* under 3.6 mA: cable cut, connector wet, or no supply */
    RADAR_NO_ECHO,      /* 3.6 to 3.8 mA: the gauge says that it sees nothing */
    RADAR_FAULT,        /* over 21 mA: the gauge reports a fault of its own */
    RADAR_NOT_SETTLED   /* fewer than RADAR_SAMPLES values so far */
} radar_status;

enum { RADAR_SAMPLES = 5 };

/* How one gauge is mounted. Lengths in metres. */
typedef struct {
    double near_end;      /* distance at 4 mA */
    double far_end;       /* distance at 20 mA */
    double face_height;   /* of the gauge's face above chart datum */
    double shunt_ohms;    /* the resistor over which the current is measured */
} radar_mount;

/* The last few distances, for the median. */
typedef struct {
    double distance[RADAR_SAMPLES];
    uint32_t count;
} radar_state;

/* The loop current in milliamperes, from the voltage over the shunt. */
double radar_current(const radar_mount *mount, double volts);

/* Whether a current is a measurement, and if it is none, why. */
radar_status radar_check(double milliamperes);

/*
 * Takes one voltage and gives the level above chart datum.
 * The level is written only when the result is RADAR_OK.
 */
radar_status radar_level(const radar_mount *mount, radar_state *state, double volts, double *level);

#endif
