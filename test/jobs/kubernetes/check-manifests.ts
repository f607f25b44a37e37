import { checkAgreement } from './check-agreement.js';
import { checkFields } from './check-fields.js';
import { checkJobs } from './check-jobs.js';
import { checkMetrics } from './check-metrics.js';
import { checkNames } from './check-names.js';
import { checkPods } from './check-pods.js';
import { checkScaling } from './check-scaling.js';
import type { Manifest } from './manifest.js';

/** What is wrong with manifests that are applied together; [] where nothing is. */
export function checkManifests(manifests: readonly Manifest[]): string[] {
  const fields = manifests.flatMap((manifest) =>
    checkFields(manifest).map((problem) => `${manifest.kind} ${manifest.metadata.name}: ${problem}`),
  );
  return [
    ...fields,
    ...checkNames(manifests),
    ...checkPods(manifests),
    ...checkJobs(manifests),
    ...checkScaling(manifests),
    ...checkMetrics(manifests),
    ...checkAgreement(manifests),
  ];
}
