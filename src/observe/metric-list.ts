/**
 * Every metric that there is; jobs/reference/metrics.md lists them, and a test compares. Names follow Prometheus: base units, `_total`
 * for what only grows. Labels take few values each: no label names a run, a row, a person or an address. The job is `job_name`, because
 * Prometheus has a label `job` of its own.
 */
export interface MetricFacts {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper ends, of a histogram. */
  readonly buckets?: readonly number[];
}

/** Of all that send the rows of jobs: `run`, `apply` and `work`. */
export const SEND_METRICS = {
  requests: {
    type: 'counter',
    name: 'volley_requests_total',
    help: 'Requests to the service, by HTTP status; no_answer: sent, and no whole answer came; not_sent: no connection.',
    labelNames: ['job_name', 'area', 'status'],
  },
  requestDuration: {
    type: 'histogram',
    name: 'volley_request_duration_seconds',
    help: 'Time from a request to the end of its answer, or to its failure.',
    labelNames: ['job_name', 'area'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  inFlight: {
    type: 'gauge',
    name: 'volley_requests_in_flight',
    help: 'Requests that wait for their answer.',
    labelNames: ['job_name', 'area'],
  },
  retries: {
    type: 'counter',
    name: 'volley_retries_total',
    help: 'Attempts after which the request is to be sent again: it was not sent, not processed, or may be repeated.',
    labelNames: ['job_name', 'step', 'kind'],
  },
  breakerOpen: {
    type: 'gauge',
    name: 'volley_breaker_open',
    help: '1 after too many bad answers in a row: one request at a time is tried. Otherwise 0.',
    labelNames: ['job_name', 'step', 'kind'],
  },
  laneShare: {
    type: 'gauge',
    name: 'volley_lane_share_ratio',
    help: 'Share of its limits that the lane uses: 1, less after the service asked to slow down.',
    labelNames: ['job_name', 'area'],
  },
  requestLimit: {
    type: 'gauge',
    name: 'volley_lane_limit_requests_per_second',
    help: 'Limit of the lane in requests a second.',
    labelNames: ['job_name', 'area'],
  },
  messageLimit: {
    type: 'gauge',
    name: 'volley_lane_limit_messages_per_second',
    help: 'Limit of the lane in messages a second, where it has one.',
    labelNames: ['job_name', 'area'],
  },
} as const satisfies Record<string, MetricFacts>;

/** Of `run` and `apply` alone. */
export const RUN_METRICS = {
  rows: {
    type: 'counter',
    name: 'volley_rows_total',
    help: 'Rows of the runs that this command worked on, by outcome: accepted, rejected, skipped or in_doubt. Those of earlier processes of a run count.',
    labelNames: ['job_name', 'step', 'kind', 'outcome'],
  },
  unprocessed: {
    type: 'gauge',
    name: 'volley_unprocessed_rows',
    help: 'Rows that are planned and have no outcome yet.',
    labelNames: ['job_name', 'step', 'kind'],
  },
  inDoubt: {
    type: 'gauge',
    name: 'volley_in_doubt_rows',
    help: 'Rows in doubt in all runs of the job, this one and earlier ones.',
    labelNames: ['job_name'],
  },
  planRows: {
    type: 'counter',
    name: 'volley_plan_rows_total',
    help: 'Rows that were read to plan them.',
    labelNames: ['job_name', 'step', 'kind'],
  },
  planDuration: {
    type: 'gauge',
    name: 'volley_plan_duration_seconds',
    help: 'Time that planning took, from the first byte of input to the plan on disk.',
    labelNames: ['job_name'],
  },
  runBytes: {
    type: 'gauge',
    name: 'volley_run_disk_bytes',
    help: 'Size of the files in the run directory.',
    labelNames: ['job_name'],
  },
  diskAvailable: {
    type: 'gauge',
    name: 'volley_disk_available_bytes',
    help: 'What is free on the disk that holds the runs of the job.',
    labelNames: ['job_name'],
  },
  running: {
    type: 'gauge',
    name: 'volley_running',
    help: '1 while the command works on the job, 0 when it has ended.',
    labelNames: ['job_name'],
  },
  lastExitCode: {
    type: 'gauge',
    name: 'volley_last_exit_code',
    help: 'Exit code of the last command that ended.',
    labelNames: ['job_name'],
  },
  lastEnd: {
    type: 'gauge',
    name: 'volley_last_end_timestamp_seconds',
    help: 'When that command ended.',
    labelNames: ['job_name'],
  },
  lastSuccess: {
    type: 'gauge',
    name: 'volley_last_success_timestamp_seconds',
    help: 'When a command last ended with exit code 0; 0 if none ever did.',
    labelNames: ['job_name'],
  },
} as const satisfies Record<string, MetricFacts>;

/** Of `work` alone. */
export const WORK_METRICS = {
  running: {
    type: 'gauge',
    name: 'volley_worker_running',
    help: '1 while the worker works, 0 when it has ended.',
    labelNames: [],
  },
  leaseHeld: {
    type: 'gauge',
    name: 'volley_worker_lease_held',
    help: '1 while the database has confirmed the lease of the worker in time; else 0, and it sends nothing.',
    labelNames: [],
  },
  lastBeat: {
    type: 'gauge',
    name: 'volley_worker_last_beat_timestamp_seconds',
    help: 'When the worker last asked for what the database then confirmed: its lease.',
    labelNames: [],
  },
  claimed: {
    type: 'gauge',
    name: 'volley_worker_claimed_requests',
    help: 'Requests that the worker has claimed, and that have no outcome yet.',
    labelNames: ['job_name'],
  },
} as const satisfies Record<string, MetricFacts>;

/** Of `GET /metrics` on `listen`. */
export const LISTEN_METRICS = {
  events: {
    type: 'counter',
    name: 'volley_events_total',
    help: 'Deliveries of events, by outcome: written, duplicate, bad (no JSON object), refused (wrong secret) or busy; dropped: connections closed at once.',
    labelNames: ['outcome'],
  },
  unknownEvents: {
    type: 'counter',
    name: 'volley_events_unknown_total',
    help: 'Events that were written, and are of a kind that Volley does not know.',
    labelNames: [],
  },
  accepting: {
    type: 'gauge',
    name: 'volley_listener_accepting',
    help: '1 while events are accepted, 0 once the file cannot be written.',
    labelNames: [],
  },
} as const satisfies Record<string, MetricFacts>;
