// Command lantern_listen reads Lantern frames of version 2 from standard input, one frame in
// hexadecimal per line, and prints what they say.
//
// It was written for neighbours who have a receiver stick on a high window. It trusts nothing:
// anybody with a radio can send such frames. The format is in LRFC 0007.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"
)

const frameLength = 24

// epoch is the beginning of time for a buoy.
var epoch = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

var (
	errLength   = errors.New("not 24 bytes")
	errVersion  = errors.New("not version 2")
	errChecksum = errors.New("checksum does not match")
)

// Frame is one message of a buoy in the units that people use. The water's temperature
// is left to those who swim.
type Frame struct {
	Kind       byte
	Buoy       byte
	Sequence   uint16
	Time       time.Time
	WaveHeight float64 // metres
	WavePeriod float64 // seconds
	Pressure   float64 // hectopascals
	Battery    float64 // volts
	East       float64 // metres from the mooring
	North      float64
}

// checksum is the cyclic redundancy check of the memo: polynomial 0x1021, from 0xFFFF.
func checksum(data []byte) uint16 {
	sum := uint16(0xFFFF)
	for _, octet := range data {
		sum ^= uint16(octet) << 8
		for bit := 0; bit < 8; bit++ {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ 0x1021
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}

// parse takes a frame apart, or says why it will not.
func parse(data []byte) (Frame, error) {
	if len(data) != frameLength {
		return Frame{}, errLength
	}
	if data[0]>>4 != 2 {
		return Frame{}, errVersion
	}
	word := func(at int) uint16 { return binary.BigEndian.Uint16(data[at:]) }
	if checksum(data[:22]) != word(22) {
		return Frame{}, errChecksum
	}
	frame := Frame{
		Kind:       data[0] & 0x0F,
		Buoy:       data[1],
		Sequence:   word(2) & 0x0FFF,
		Time:       epoch.Add(time.Duration(binary.BigEndian.Uint32(data[4:])) * time.Second),
		WaveHeight: float64(word(8)) / 1000,
		WavePeriod: float64(word(10)) / 100,
		Pressure:   float64(word(14)) / 10,
		Battery:    float64(word(16)) / 1000,
		East:       float64(int16(word(18))) / 10,
		North:      float64(int16(word(20))) / 10,
	}
	return frame, nil
}

// missed is how many frames lie between two sequence numbers, which begin again after 4095.
func missed(before, now uint16) int {
	return int((now - before - 1) & 0x0FFF)
}

// String is the frame as one line, with a word for calls for help that nobody overlooks.
func (f Frame) String() string {
	mark := ""
	if f.Kind == 15 {
		mark = "  HELP"
	}
	return fmt.Sprintf("%s buoy %d #%04d  %.2f m %.1f s  %.1f hPa  %.2f V  %.0f m adrift%s",
		f.Time.Format("2006-01-02 15:04:05"), f.Buoy, f.Sequence,
		f.WaveHeight, f.WavePeriod, f.Pressure, f.Battery, math.Hypot(f.East, f.North), mark)
}

func main() {
	last := map[byte]uint16{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		data, err := hex.DecodeString(strings.TrimSpace(lines.Text()))
		if err != nil {
			fmt.Fprintln(os.Stderr, "skipped:", err)
			continue
		}
		frame, err := parse(data)
		if err != nil {
			fmt.Fprintln(os.Stderr, "skipped:", err)
			continue
		}
		if before, known := last[frame.Buoy]; known && missed(before, frame.Sequence) > 0 {
			fmt.Printf("  (%d frames missed)\n", missed(before, frame.Sequence))
		}
		last[frame.Buoy] = frame.Sequence
		fmt.Println(frame)
	}
}
