import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The readings that the keeper Ephraim Tolland took from his pole on the jetty, in metres.
 *
 * <p>He cut the pole in feet and tenths of a foot and read it when duty allowed, from 1913 to 1934.
 * The foot of the pole was set into the rock below the jetty. Its zero was found again in 2023, as a
 * lead plug with a cross in it, and levelled: it lies 0.31 m above chart datum.
 *
 * <p>Written by the senior class of the school at Port Annet, who typed in 1,107 readings.
 */
public final class TidePole {
    /** Metres in a foot. */
    static final double FOOT = 0.3048;

    /** Height of the zero of the pole above chart datum, in metres. */
    static final double ZERO = 0.31;

    /** Waves on an open jetty make a single reading uncertain by about this much, in metres. */
    static final double ONE_READING = 0.08;

    /** One entry at the back of the diary. */
    public record Reading(LocalDate day, double feet, boolean calm) {
        public Reading {
            if (feet < -2 || feet > 22) {
                throw new IllegalArgumentException(feet + " feet cannot be read from the pole");
            }
        }

        /** The level in metres above chart datum. */
        public double metres() {
            return feet * FOOT + ZERO;
        }

        /** How far the level may be wrong; twice as far if the sea was not calm. */
        public double uncertainty() {
            return calm ? ONE_READING : 2 * ONE_READING;
        }
    }

    private final List<Reading> readings = new ArrayList<>();

    /** Takes a line such as {@code 1921-05-22 16.8 calm}; what follows the third word is ignored. */
    public void add(String line) {
        String[] parts = line.strip().split("\\s+");
        if (parts.length < 3) {
            throw new IllegalArgumentException("a reading needs a date, feet and the sea: " + line);
        }
        boolean calm = parts[2].equals("calm");
        readings.add(new Reading(LocalDate.parse(parts[0]), Double.parseDouble(parts[1]), calm));
    }

    /** The highest level of one year, if there was any reading in it. */
    public Optional<Reading> highest(int year) {
        return readings.stream()
                .filter(reading -> reading.day().getYear() == year)
                .max((one, other) -> Double.compare(one.metres(), other.metres()));
    }

    /** The median of all levels. He read mostly at high water, so this is no mean sea level. */
    public double median() {
        if (readings.isEmpty()) {
            throw new IllegalStateException("no readings yet");
        }
        List<Double> levels = new ArrayList<>();
        for (Reading reading : readings) {
            levels.add(reading.metres());
        }
        Collections.sort(levels);
        int middle = levels.size() / 2;
        return levels.size() % 2 == 1
                ? levels.get(middle)
                : (levels.get(middle - 1) + levels.get(middle)) / 2;
    }

    /** Prints the two great tides of 1921, as an example. */
    public static void main(String[] arguments) {
        TidePole pole = new TidePole();
        pole.add("1921-05-22 16.8 calm full moon the night before");
        pole.add("1921-10-16 16.3 rough after the eclipse");
        for (Reading reading : pole.readings) {
            System.out.printf("%s  %.2f m, give or take %.2f m%n",
                    reading.day(), reading.metres(), reading.uncertainty());
        }
    }
}
