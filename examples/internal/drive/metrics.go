package drive

import "github.com/tidestaff/tidestaff/probe"

// The descriptions of all metrics. Those per operation carry
// attrOperation, failures attrErrorType too.
var (
	descResponse = &probe.Desc{Name: "drive.operation.duration", Unit: "s", Kind: probe.KindDistribution,
		Help: "Response time: from an operation's intended time to its end, failures included."}
	descService = &probe.Desc{Name: "drive.operation.service", Unit: "s", Kind: probe.KindDistribution,
		Help: "Service time: from the real call to its end."}
	descLateness = &probe.Desc{Name: "drive.lateness", Unit: "s", Kind: probe.KindDistribution,
		Help: "How late the driver itself called: from the moment at which it could have, to the call."}
	descDue = &probe.Desc{Name: "drive.due", Unit: "{operation}", Kind: probe.KindCounter,
		Help: "Operations whose intended time came, the skipped ones included."}
	descSkipped = &probe.Desc{Name: "drive.skipped", Unit: "{operation}", Kind: probe.KindCounter,
		Help: "Operations left out because the previous one still ran and the policy is Skip."}
	descFailures = &probe.Desc{Name: "drive.failures", Unit: "{operation}", Kind: probe.KindCounter,
		Help: "Failed operations by class, error.type."}
	descOffered = &probe.Desc{Name: "drive.rate.offered", Unit: "{operation}/s", Kind: probe.KindGauge,
		Help: "Operations due per second of the operation's schedule, since the run began."}
	descAchieved = &probe.Desc{Name: "drive.rate.achieved", Unit: "{operation}/s", Kind: probe.KindGauge,
		Help: "Operations that ended without failure per second, until the last one ended, since the run began."}
	descPlanned = &probe.Desc{Name: "drive.work.planned", Unit: "{unit}", Kind: probe.KindGauge,
		Help: "The run's fixed work: counted activities and the units of scripts."}
	descDone = &probe.Desc{Name: "drive.work.done", Unit: "{unit}", Kind: probe.KindGauge,
		Help: "How much of the fixed work is done."}
	descCPU = &probe.Desc{Name: "drive.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of the driver's process, user and system."}
	descSeed = &probe.Desc{Name: "drive.seed", Unit: "1", Kind: probe.KindGauge,
		Help: "The random seed, rounded to a float; exact in the attribute drive.seed."}
)

// The attributes of the metrics. The operation's is that of probe.Ops, so that
// a table can have the client's and the server's view of one name side by side.
const (
	attrOperation = "tidestaff.operation.name"
	attrErrorType = "error.type" // OpenTelemetry's, for the class of a failure
	attrSeed      = "drive.seed" // the exact seed, in decimal
)

// eventCut is the event of a run that was cut off: its cause is "cap" or
// "canceled" and its text says how much of the work was done.
const eventCut = "drive.cut"

var descs = []*probe.Desc{
	descResponse, descService, descLateness, descDue, descSkipped, descFailures,
	descOffered, descAchieved, descPlanned, descDone, descCPU, descSeed,
}
