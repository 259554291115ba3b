import { type SchemaOptions, type Static, Type } from '@sinclair/typebox';
import { SESSION_METHODS } from '../../core/sign-in-methods.ts';
import { REPORTED_LIMITS } from '../../http/limits.ts';
import { Choice, Id, Nullable } from '../../http/schemas.ts';

export const DEFAULT_DAYS = 30;

export const StatsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      default: DEFAULT_DAYS,
      description: 'Number of days, up to today.',
      remedy: 'Give a whole number from 1 to 365.',
    }),
  ),
});
export type StatsQuery = Static<typeof StatsQuery>;

/** A UTC day. */
const Day = (description?: string) =>
  Type.String({
    $id: 'Date',
    describedFormat: 'date',
    examples: ['2026-01-31'],
    ...(description !== undefined && { description }),
  });

const Count = (options: SchemaOptions = {}) => Type.Integer({ minimum: 0, examples: [12], ...options });

const Compared = Type.Object(
  {
    count: Count(),
    previous: Count({
      description: 'The same for the period before, up to the same hour; beyond 31 days, all of its last day.',
    }),
  },
  { $id: 'ComparedCount' },
);

const DayStats = Type.Object(
  { date: Day(), signIns: Count(), newUsers: Count(), activeUsers: Count(), refusals: Count() },
  { $id: 'DayStats' },
);

const MethodCount = Type.Object({ method: Choice(SESSION_METHODS), count: Count() }, { $id: 'MethodCount' });

const ReasonCount = Type.Object(
  { reason: Type.String({ examples: ['gate_closed'] }), count: Count() },
  { $id: 'ReasonCount', description: 'The error code of the answer.' },
);

const LimitCount = Type.Object({ limit: Choice(REPORTED_LIMITS), count: Count() }, { $id: 'LimitCount' });

const EndpointStats = Type.Object(
  { webhookId: Id('whk'), delivered: Count(), failedAttempts: Count() },
  { $id: 'EndpointStats' },
);

export const Stats = Type.Object(
  {
    from: Day('The first day.'),
    to: Day('The last day, still incomplete.'),
    days: Type.Array(DayStats, { description: 'Every day, oldest first.' }),
    totals: Type.Object({ signIns: Compared, newUsers: Compared, refusals: Compared }),
    activeUsers: Type.Object(
      { day: Compared, week: Compared, month: Compared },
      { description: 'Today, and the last 7 and 30 days with it, each person once.' },
    ),
    activeSessions: Type.Object(
      {
        day: Compared,
        week: Compared,
        month: Compared,
        since: Nullable(
          Day(
            'The first day on which sessions were counted, if there were sign-ins before it: earlier use is missing.',
          ),
        ),
      },
      {
        description:
          'Today, and the last 7 and 30 days with it, each session once: begun or used then, even if it has ended since.',
      },
    ),
    users: Type.Object({
      total: Count({
        description: 'People with an active membership, including imported people who have not signed in yet.',
      }),
    }),
    signInsByMethod: Type.Array(MethodCount, { description: 'The most frequent first.' }),
    refusalsByReason: Type.Array(ReasonCount, { description: 'The most frequent first.' }),
    webhooks: Type.Object({
      delivered: Count({ description: 'Events accepted by endpoints, including removed ones.' }),
      failedAttempts: Count({ description: 'Attempts not accepted by an endpoint.' }),
      endpoints: Type.Array(EndpointStats, { description: 'The present endpoints.' }),
    }),
    limits: Type.Array(LimitCount, { description: 'Calls refused by a limit, the most frequent first.' }),
  },
  { $id: 'Stats' },
);
export type Stats = Static<typeof Stats>;
