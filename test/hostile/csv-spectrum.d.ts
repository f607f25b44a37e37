declare module 'csv-spectrum' {
  interface Sample {
    readonly name: string;
    readonly csv: Buffer;
    readonly json: Buffer;
  }
  function csvSpectrum(callback: (error: Error | null, samples: readonly Sample[]) => void): void;
  export = csvSpectrum;
}
