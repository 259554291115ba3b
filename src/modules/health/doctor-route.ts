/** Facts for the `doctor` command of the same machine: how its request arrived, and what the server has observed. */
import { Type, type Static } from '@sinclair/typebox';
import type { WorldClock } from '../../core/clock.ts';
import { DOCTOR_HEADER, isDoctorPass } from '../../core/doctor-pass.ts';
import { AppError } from '../../core/error.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Database } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import type { PeerAddress } from '../../http/request-context.ts';
import { Nullable } from '../../http/schemas.ts';
import type { InstanceFacts } from './facts.ts';

export const DOCTOR_PATH = '/healthz/doctor';

const Header = () => Nullable(Type.String());

const DoctorAnswer = Type.Object({
  instanceId: Type.String(),
  version: Type.String(),
  isWritable: Type.Boolean(),
  /** Headers and addresses of this request. */
  seen: Type.Object({
    peer: Header(),
    /** Address used for rate limits. */
    client: Type.String(),
    host: Header(),
    forwardedFor: Header(),
    forwardedProto: Header(),
    forwarded: Header(),
  }),
  untrustedProxyHeader: Header(),
  /** Host and port of the mail server that is set in the console; null without one. */
  mailServerOfConsole: Header(),
  /** Counted since the start. */
  refusals: Type.Array(Type.Object({ limit: Type.String(), count: Type.Integer() })),
});
export type DoctorAnswer = Static<typeof DoctorAnswer>;

export interface DoctorRouteDependencies {
  readonly db: Pick<Database, 'status'>;
  readonly clock: WorldClock;
  readonly metrics: Pick<Metrics, 'families'>;
  readonly peerAddress: PeerAddress;
  readonly instance: InstanceFacts;
}

/** Answers not_found without the doctor's pass. */
export function doctorRoute({ db, clock, metrics, peerAddress, instance }: DoctorRouteDependencies): Operation {
  return operation({
    id: 'getDoctorFacts',
    method: 'GET',
    path: DOCTOR_PATH,
    summary: 'What the doctor of the same machine asks',
    tag: 'Operation',
    access: 'none',
    scope: 'instance',
    limit: 'none',
    style: 'flat',
    isUndocumented: true,
    data: DoctorAnswer,
    errors: ['not_found'],
    async handle({ context }) {
      const { headers } = context.request;
      const { identity, version } = instance;
      const pass = headers.get(DOCTOR_HEADER) ?? '';
      if (identity === null || !isDoctorPass(pass, identity.pass, clock.real())) throw new AppError('not_found');
      return {
        instanceId: identity.instanceId,
        version,
        isWritable: db.status().outage === null,
        seen: {
          peer: peerAddress(context.request),
          client: context.ip,
          host: headers.get('host'),
          forwardedFor: headers.get('x-forwarded-for'),
          forwardedProto: headers.get('x-forwarded-proto'),
          forwarded: headers.get('forwarded'),
        },
        untrustedProxyHeader: instance.untrustedProxyHeader(),
        mailServerOfConsole: await serverOfConsole(instance),
        refusals: await refusalsIn(metrics),
      };
    },
  });
}

async function serverOfConsole({ mail }: Pick<InstanceFacts, 'mail'>): Promise<string | null> {
  const { source, server } = await mail();
  return source === 'console' ? server : null;
}

async function refusalsIn(metrics: Pick<Metrics, 'families'>): Promise<DoctorAnswer['refusals']> {
  const family = metrics.families().find(({ name }) => name === 'gatehouse_rate_limit_refusals_total');
  const samples = (await family?.read()) ?? [];
  return samples
    .map(({ labels, value }) => ({ limit: labels?.['limit'] ?? '', count: value }))
    .filter(({ count }) => count > 0);
}
