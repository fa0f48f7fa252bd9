// Package matcher pairs billed lines with delivered lines.
package matcher

import (
	"errors"
	"math"
)

// ErrCurrencyMismatch is returned when two amounts cannot be compared at all.
var ErrCurrencyMismatch = errors.New("TB-302: currencies differ")

// Amount is in the smallest unit of its currency, so that nobody adds floats.
type Amount struct {
	Minor    int64
	Currency string
}

// Tolerance says how far billed and delivered may be apart before a person looks.
type Tolerance struct {
	Share    float64 // of the larger amount
	MinMinor int64   // but never less than this
}

// DefaultTolerance is what all customers but two have: the brewery wants none at all,
// and the flower market wants eight per cent because stems break.
var DefaultTolerance = Tolerance{Share: 0.02, MinMinor: 50}

// Within tells whether a and b are near enough to be paid without asking.
func (t Tolerance) Within(a, b Amount) (bool, error) {
	if a.Currency != b.Currency {
		return false, ErrCurrencyMismatch
	}
	larger := math.Max(math.Abs(float64(a.Minor)), math.Abs(float64(b.Minor)))
	allowed := math.Max(larger*t.Share, float64(t.MinMinor))
	return math.Abs(float64(a.Minor-b.Minor)) <= allowed, nil
}
