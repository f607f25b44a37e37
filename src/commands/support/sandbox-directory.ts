/** Where an embedded sandbox keeps its state, in the directory of the job. */
export const SANDBOX_DIRECTORY = 'sandbox';
