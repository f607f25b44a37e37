declare module 'csv-spectrum' {
  type Sample = Readonly<{ name: string; csv: Buffer; json: Buffer }>;
  function csvSpectrum(callback: (error: Error | null, samples: readonly Sample[]) => void): void;
  export = csvSpectrum;
}
