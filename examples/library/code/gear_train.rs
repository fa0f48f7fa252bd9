//! Looks for wheels that turn at the speed of a tide.
//!
//! The machine in the Engine Hall has one shaft that goes round with the sun, twice a day. Every
//! other cause of the tide is driven from it through two pairs of wheels, and a wheel can only
//! have whole teeth. This program tries all trains that fit into the frame and prints the best.
//!
//! It was written in an evening to see whether Anselm Brae could have done better by computer. He
//! could not: of all trains that the frame has room for, the two that we know from his letter are
//! the best there are. The program needs a fiftieth of a second for what took him three weeks.

/// Smaller wheels wear out, for each tooth meets its neighbour too often.
pub const FEWEST_TEETH: u32 = 30;

/// Larger wheels touch the frame.
pub const MOST_TEETH: u32 = 120;

/// Degrees that the sun's shaft turns in an hour.
pub const SUN: f64 = 30.0;

const SECONDS_A_YEAR: f64 = 365.25 * 86_400.0;

/// Two pairs of wheels, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Train {
    pub driving: [u32; 2],
    pub driven: [u32; 2],
}

impl Train {
    /// Turns of the last wheel for one turn of the sun's shaft.
    pub fn ratio(&self) -> f64 {
        f64::from(self.driving[0] * self.driving[1]) / f64::from(self.driven[0] * self.driven[1])
    }

    /// How far the train is out after a year, in seconds.
    pub fn drift(&self, speed: f64) -> f64 {
        (self.ratio() * SUN / speed - 1.0).abs() * SECONDS_A_YEAR
    }

    /// The wheel that is hardest to cut: the largest prime, since it needs a plate of its own.
    pub fn hardest(&self) -> Option<u32> {
        let wheels = self.driving.iter().chain(&self.driven).copied();
        wheels.filter(|&teeth| is_prime(teeth)).max()
    }
}

fn is_prime(number: u32) -> bool {
    number > 1 && (2..).take_while(|d| d * d <= number).all(|d| number % d != 0)
}

/// The train that comes closest to a speed in degrees per hour.
///
/// Three wheels are tried in every combination; the fourth then follows from them.
pub fn best_train(speed: f64) -> Option<Train> {
    let wanted = speed / SUN;
    let mut best: Option<Train> = None;
    for first in FEWEST_TEETH..=MOST_TEETH {
        for second in first..=MOST_TEETH {
            for third in FEWEST_TEETH..=MOST_TEETH {
                let fourth = (f64::from(first * second) / f64::from(third) / wanted).round() as u32;
                if !(third..=MOST_TEETH).contains(&fourth) {
                    continue;
                }
                let train = Train { driving: [first, second], driven: [third, fourth] };
                if best.is_none_or(|known| train.drift(speed) < known.drift(speed)) {
                    best = Some(train);
                }
            }
        }
    }
    best
}

fn main() {
    for (name, speed) in [("M2", 28.984_104_2), ("N2", 28.439_729_5), ("M4", 57.968_208_4)] {
        let Some(train) = best_train(speed) else {
            println!("{name}: nothing fits into the frame");
            continue;
        };
        let [a, b] = train.driving;
        let [c, d] = train.driven;
        let drift = train.drift(speed);
        print!("{name}: {a} over {c}, {b} over {d}, {drift:.1} s a year");
        println!(", hardest wheel {}", train.hardest().map_or("none".into(), |w| w.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_train_in_the_machine_drifts_by_less_than_three_seconds() {
        let anselm = Train { driving: [103, 59], driven: [85, 74] };
        assert!(anselm.drift(28.984_104_2) < 3.0);
        assert_eq!(anselm.hardest(), Some(103));
    }

    #[test]
    fn no_train_for_the_moon_is_better_than_his() {
        let found = best_train(28.984_104_2).expect("there is one");
        assert_eq!((found.driving, found.driven), ([59, 103], [74, 85]));
    }
}
