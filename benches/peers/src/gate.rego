# The published gate (SPEC 5) in billionths.
package gate

default decision := "refuse"

decision := "hold" if {
	not input.budget
	not input.standalone
}

decision := "execute" if {
	weighed
	score >= 750000000
}

decision := "hold" if {
	weighed
	score >= 500000000
	score < 750000000
}

weighed if {
	input.budget
	not input.sandbox
	input.trust >= 300000000
	not input.critical
}

score := (((300000000 + risk) + trust) - recent) + complete

default risk := 0

risk := 300000000 if input.hazard < 3000000000

risk := 150000000 if {
	input.hazard >= 3000000000
	input.hazard < 6000000000
}

default trust := 125000000

trust := 250000000 if input.trust >= 600000000

default recent := 0

recent := 62500000 if input.recent_failures >= 3

complete := [150000000, 97500000, 45000000, 0][input.missing]
