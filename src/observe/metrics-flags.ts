/** Where the figures of a command go; each may be absent. */
export interface MetricsFlags {
  /** Ends in `.prom`. */
  readonly file: string | undefined;
  readonly port: number | undefined;
  /** That the port is on. */
  readonly host: string;
}
