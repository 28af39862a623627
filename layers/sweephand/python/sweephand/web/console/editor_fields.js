// The fields of a job as the editor's form shows them. A test compares them with the fields of the API.
//
// A field is a list: its path, its label, its kind, what the kind needs, and a hint. A kind needs: of a `choice`, its
// values in words, the default first; of a `name`, the list of the namespace that has the names; of others, the
// default in words.

const FOR_AWS = [
  ["format", "The consumer gets", "choice", { json: "the data, and the names of the trigger", raw: "the data alone" }],
  ["scheduleArn", "Schedule ARN", "text", "", "With the data alone, it replaces <aws.scheduler.schedule-arn>."],
  ["roleArn", "Role that deliveries assume", "text", "the stack's own"],
];
const GROUP_ID = ["messageGroupId", "Message group", "text", "", "For FIFO."];
const FOR_HTTP = [
  ["method", "Method", "choice", { POST: "POST", PUT: "PUT", PATCH: "PATCH", DELETE: "DELETE", GET: "GET" }],
  ["headers", "Headers", "headers"],
  ["timeout", "Time-out", "duration", "15s"],
  ["format", "The consumer gets", "choice", { json: "the data as JSON", cloudevents: "a CloudEvent", "cloudevents-binary": "a CloudEvent in binary mode" }],
  ["signingSecret", "Secret that signs", "secret", "those of the namespace"],
];

/** The target types: in words, and their fields. */
export const TARGET_TYPES = {
  http: ["HTTP request", [["url", "URL", "text", "", "{{due}}, {{attempt}} and {{index}} in path and query are filled in."], ...FOR_HTTP]],
  sqs: ["SQS queue", [["queueUrl", "URL of the queue", "text"], GROUP_ID, ...FOR_AWS]],
  lambda: ["Lambda function", [
    ["functionArn", "ARN of the function", "text"],
    ["invocation", "The answer", "choice", { async: "is not awaited", sync: "is awaited, and kept" }],
    ["timeout", "Time-out", "duration", "15s", "For an answer that is awaited."], ...FOR_AWS]],
  sns: ["SNS topic", [["topicArn", "ARN of the topic", "text"], GROUP_ID, ...FOR_AWS]],
  eventbridge: ["EventBridge bus", [["busArn", "ARN of the bus", "text"], ["detailType", "Detail type", "text", "sweephand.trigger"],
    ["source", "Source", "text", "sweephand"], ...FOR_AWS]],
  stepfunctions: ["Step Functions state machine", [["stateMachineArn", "ARN of the state machine", "text"], ...FOR_AWS]],
  default: ["a path below the default target", [["path", "Path below its URL", "text", "", "{{due}}, {{attempt}} and {{index}} are filled in."], ...FOR_HTTP]],
  job: ["another job", [["name", "Name of the job", "name", "jobs"],
    ["when", "It is triggered by a run that", "choice", { succeeded: "succeeded", failed: "failed", always: "is over in any way" }]]],
};

/** The fields of a target that few jobs need. */
export const RARE_IN_TARGET = ["timeout", "format", "signingSecret", "scheduleArn", "roleArn"];

export const NAME_FIELD = ["name", "Name", "text"];
export const DESCRIPTION_FIELD = ["description", "Description", "text"];
export const ZONE_FIELD = ["timezone", "Time zone", "zone", "UTC"];
export const TARGET_FIELD = ["target", "Deliver to", "target", "the default target of the namespace"];
export const DATA_FIELD = ["data", "Data (JSON)", "json", "", "What the consumer gets. Without it, null."];
export const CLOCK_PARTS = [
  ["schedule.second", "Second", "number"], ["schedule.minute", "Minute", "number"], ["schedule.hour", "Hour", "number"],
  ["schedule.dayOfMonth", "Day", "number"], ["schedule.month", "Month", "number"], ["schedule.dayOfWeek", "Weekday", "number"],
  ["schedule.year", "Year", "number"],
];

/** Groups of fields that few jobs need. `plain` says what holds without them. */
export const TIME_GROUPS = [
  { title: "Bounds, jitter, clock changes", plain: "from now on, without an end", fields: [
    ["dueTime", "Not before", "instant", "now"],
    ["ttl", "Not after", "instant", "no end"],
    ["repeats", "Occurrences in all", "number", "no bound"],
    ["jitter", "Later by up to", "duration", "no move", "One offset for the whole series, so that jobs of one schedule do not fire together."],
    ["dst.gap", "A time that the clock skips", "choice", { shift: "fires when the gap ends", skip: "does not fire" }],
    ["dst.overlap", "A time that comes twice", "choice", { first: "fires the first time", last: "fires the second time", both: "fires both times" }],
  ] },
  { title: "Calendar", plain: "every day", fields: [
    ["calendar.name", "Calendar", "name", "calendars"],
    ["calendar.days", "The job fires on its", "choice", { open: "open days", closed: "closed days" }],
    ["calendar.otherwise", "What falls on another day", "choice",
      { skip: "is skipped", next: "moves to the next such day", previous: "moves to the one before", nearest: "moves to the nearest one" }],
  ] },
];
export const JOB_GROUPS = [
  { title: "Retries", plain: "10 attempts in 24h, or the default of the namespace", fields: [
    ["retry.maxAttempts", "Attempts at most", "number", "10"],
    ["retry.maxAge", "All attempts within", "duration", "24h"],
    ["retry.initialDelay", "First delay", "duration", "5s"],
    ["retry.multiplier", "Next delay is longer by a factor of", "number", "4"],
    ["retry.maxDelay", "Longest delay", "duration", "6h"],
    ["onError", "When a trigger is given up, the job", "choice", { continue: "goes on", pause: "is paused" }],
    ["deadLetterQueue", "Queue of dead letters (URL)", "text", "the stack's own"],
  ] },
  { title: "Overlap and limits", plain: "runs may overlap, no policy", fields: [
    ["overlap", "While a run is not over, the next", "choice",
      { allow: "is delivered at once", skip: "is skipped", wait: "waits for its turn", waitLatest: "waits, only the newest" }],
    ["waitLimit", "So many may wait for their turn", "number", "100"],
    ["policy", "Flow policy", "name", "policies"],
    ["priority", "Priority", "choice", { normal: "normal", high: "high", low: "low" }],
  ] },
  { title: "After an outage", plain: "what is up to 1h late fires, and the newest of the rest", fields: [
    ["catchup.window", "What is late by at most this fires", "duration", "1h"],
    ["catchup.mode", "Of what is later, fires", "choice", { latest: "the newest", all: "each", none: "none" }],
  ] },
  { title: "Batch", plain: "one trigger for each occurrence", fields: [
    ["batch.count", "Triggers of each occurrence", "number"],
    ["batch.window", "Spread over", "duration", "all at once"],
  ] },
  { title: "Long runs", plain: "a run is over when the consumer answers", fields: [
    ["completion", "A run is over", "choice", { sync: "when the consumer answers", async: "when the consumer reports it" }],
    ["heartbeatTimeout", "Longest time between reports", "duration", "5m"],
    ["maxRunTime", "Longest run", "duration", "24h"],
  ] },
  { title: "Notification", plain: "nobody is told how a run ended", fields: [["onComplete", "Each run's end goes to", "target", "nobody"]] },
  { title: "Watch", plain: "no alert if a run does not succeed in time", fields: [
    ["alertAfter", "Alert if it has not succeeded within", "duration", "no alert"],
    ["onAlert", "The alert goes to", "target", "nobody"],
  ] },
  { title: "Records", plain: "each run for 30d, the completed job for 7d", fields: [
    ["history", "Recorded are", "choice", { outcome: "all runs", full: "all runs, and their beginnings", failures: "runs whose first attempt fails" }],
    ["historyRetention", "A record is kept for", "duration", "30d"],
    ["retention", "The completed job is kept for", "duration", "7d"],
    ["deleteAfterCompletion", "After its last run, the job", "choice", { false: "is kept", true: "is deleted" }],
  ] },
  { title: "Labels", plain: "none", fields: [["labels", "Labels", "labels"]] },
];

const wordsOf = { choice: (value, words) => words[value], secret: (value) => value.secretRef, target: (value) => TARGET_TYPES[value.type]?.[0],
  labels: (value) => Object.entries(value).map((each) => each.join(":")).join(", "), headers: (value) => Object.keys(value).join(", ") };

/** What a field is set to, in a few words. */
export function saidOf([, label, kind, more], value) {
  const words = wordsOf[kind]?.(value, more) ?? (typeof value === "object" ? "set" : value);
  return kind === "labels" ? words : `${label.charAt(0).toLowerCase()}${label.slice(1)} ${words}`;
}
