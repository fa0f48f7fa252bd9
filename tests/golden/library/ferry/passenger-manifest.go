package manifest

// MaxSouls is what the certificate allows in class VI waters; in winter (November to March) it is fewer
// because half of the rafts are ashore for service.
const (
	MaxSouls       = 97
	MaxSoulsWinter = 60
)

// Crew are souls too. This was forgotten on 14 August 2016 and the inspector counted.
type Crossing struct {
	Passengers, Crew int
	Winter           bool
}

// MayBoard tells how many more may come on board.
func (c Crossing) MayBoard() int {
	limit := MaxSouls
	if c.Winter {
		limit = MaxSoulsWinter
	}
	if left := limit - c.Passengers - c.Crew; left > 0 {
		return left
	}
	return 0
}
