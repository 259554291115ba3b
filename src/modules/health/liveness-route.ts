/** Liveness, which threads answer too. */
import { Type } from '@sinclair/typebox';
import { type Operation, operation } from '../../http/operation.ts';

export const TAG = 'Operation';
export const HealthStatus = Type.Object({ status: Type.String({ examples: ['ok'] }) });

export function livenessRoute(): Operation {
  return operation({
    id: 'healthz',
    method: 'GET',
    path: '/healthz',
    summary: 'Check whether the process is alive',
    tag: TAG,
    access: 'none',
    scope: 'instance',
    limit: 'none',
    style: 'flat',
    data: HealthStatus,
    handle: () => ({ status: 'ok' }),
  });
}
