// Command hivescale reads the load cell below Hive 1 and says when something has happened.
package main

import "fmt"

// Reading is one weight in grams at one minute of the day.
type Reading struct {
	Minute int
	Grams  int
}

const (
	swarmDrop   = 1500 // a prime swarm is about 15,000 bees and the honey in them
	swarmWithin = 20   // minutes
	robberDrop  = 400  // in an hour, while the others gain
	rainGain    = 700  // a wet roof, not nectar: it comes at once and dries off by noon
)

// Event names what the weight tells, or "" for an ordinary day.
func Event(before, after Reading) string {
	change, minutes := after.Grams-before.Grams, after.Minute-before.Minute
	switch {
	case change <= -swarmDrop && minutes <= swarmWithin:
		return "SWARM"
	case change <= -robberDrop && minutes <= 60:
		return "ROBBING"
	case change >= rainGain && minutes <= 10:
		return "RAIN"
	}
	return ""
}

func main() {
	fmt.Println(Event(Reading{721, 48200}, Reading{735, 46350}))
}
