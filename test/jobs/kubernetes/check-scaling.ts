import { complain } from './check-pods.js';
import { listSpecs, type Manifest } from './manifest.js';

/** What KEDA would refuse, or would do without effect. */
export function checkScaling(manifests: readonly Manifest[]): string[] {
  const authentications = listSpecs(manifests, 'TriggerAuthentication');
  return listSpecs(manifests, 'ScaledObject').flatMap(({ spec }) => {
    const { scaleTargetRef: ref, minReplicaCount: least, maxReplicaCount: most, triggers } = spec;
    const target = manifests.find(({ kind, metadata }) => kind === ref.kind && metadata.name === ref.name);
    return [
      ...complain(target === undefined || target.apiVersion !== ref.apiVersion, `there is no ${ref.kind} ${ref.name}`),
      ...complain(target?.spec !== undefined && 'replicas' in target.spec, 'two say how many replicas there are'),
      ...complain(!(least >= 0 && most >= 1 && least <= most), 'its counts cannot be'),
      ...triggers.flatMap(({ type, metadata, authenticationRef }) => [
        ...complain(type !== 'postgresql', `there is no trigger ${type}`),
        ...complain(!(Number(metadata.targetQueryValue) > 0), 'its target is not a number above 0'),
        ...complain(typeof metadata.targetQueryValue !== 'string', 'values of a trigger are texts'),
        ...complain(
          !/^SELECT [\w ,+()]+ FROM volley\.open_requests$/.test(metadata.query ?? ''),
          'its query is not one number of a view',
        ),
        ...complain(
          !authentications.some(({ name }) => name === authenticationRef.name),
          `there is no TriggerAuthentication ${authenticationRef.name}`,
        ),
      ]),
    ];
  });
}
