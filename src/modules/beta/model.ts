import { type Static, Type } from '@sinclair/typebox';
import {
  ChangeOutcomeSchema,
  ChangeSummary,
  Choice,
  Email,
  Id,
  Input,
  ManyIds,
  Nullable,
  PageOf,
  PageQuery,
  refusalOfOne,
  Timestamp,
} from '../../http/schemas.ts';
import { WAITLIST_STANDINGS } from '../../core/waitlist-standing.ts';
import { BETA_POLICIES, SIGNIN_GATES, STAGES } from '../../store/applications.ts';
import { BETA_STATUSES } from '../../store/waitlist.ts';

const MAX_EMAILS = 500;

const Locale = (description: string) =>
  Type.String({ maxLength: 35, description, remedy: 'Give a language tag.', examples: ['de'] });

export const BetaInterestSchema = Type.Object(
  {
    id: Id('bet'),
    email: Email(),
    status: Choice(BETA_STATUSES, { $id: 'BetaStatus' }),
    source: Type.String({ examples: ['admin_add', 'request', 'notify'] }),
    locale: Nullable(Locale('The language of its mails; null if unknown.')),
    decidedById: Nullable(Type.String({ description: 'Who decided: a user id.' })),
    decidedAt: Nullable(Timestamp()),
    notifiedAt: Nullable(Timestamp()),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { $id: 'BetaInterest' },
);
export type BetaInterestRecord = Static<typeof BetaInterestSchema>;

export const BetaInterestPage = PageOf(BetaInterestSchema);

export const BetaQuery = Type.Composite([
  PageQuery,
  Type.Object({
    status: Type.Optional(Choice(BETA_STATUSES, { $id: 'BetaStatus', description: 'Only entries in this state.' })),
    email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description: 'Only the entry with exactly this address.',
        remedy: 'Give an e-mail address.',
        examples: ['ada@example.com'],
      }),
    ),
  }),
]);
export type BetaQuery = Static<typeof BetaQuery>;

const Rows = (description?: string) =>
  Type.Integer({ minimum: 0, examples: [12], ...(description !== undefined && { description }) });

export const BetaCounts = Type.Object(
  {
    pending: Rows(),
    approved: Rows(),
    notifyWhenPublic: Rows(),
    declined: Rows(),
    toldAtLaunch: Rows(
      'Number of people that opening to `public` would mail: pending requests, and people still waiting for the notice.',
    ),
  },
  { $id: 'BetaCounts' },
);
export type BetaCounts = Static<typeof BetaCounts>;

export const BetaAddInput = Input({
  emails: Type.Array(
    Type.String({ maxLength: 320, remedy: 'Give an e-mail address.', examples: ['ada@example.com'] }),
    {
      minItems: 1,
      maxItems: MAX_EMAILS,
      remedy: `Give 1 to ${MAX_EMAILS} addresses.`,
    },
  ),
  status: Type.Optional(
    Choice(['approved', 'pending'], {
      description: 'Default: `pending` for a list, `approved` for a single address.',
    }),
  ),
  locale: Type.Optional(Locale('The language of their mails, for new entries and those without one.')),
});
export type BetaAddInput = Static<typeof BetaAddInput>;

export const BetaAdded = Type.Object({
  items: Type.Array(BetaInterestSchema),
  summary: Type.Object({
    requested: Type.Integer(),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
  }),
});
export type BetaAdded = Static<typeof BetaAdded>;

export const ApproveInput = Input({
  notify: Type.Optional(
    Type.Boolean({
      description: 'Whether to mail the person. Default: people who asked for a notice or wait for the launch mail.',
      remedy: 'Give true or false.',
    }),
  ),
});

export const DeclineInput = Input({
  soft: Type.Optional(
    Type.Boolean({
      description: 'Keeps the person for the launch mail (`notify_when_public`), with a friendly notice.',
      remedy: 'Give true or false.',
    }),
  ),
});

const MAX_DECIDED = 200;

export const DecideInput = Input({
  decision: Choice(['approve', 'decline', 'soft_decline'], {
    $id: 'BetaDecision',
    description: '`soft_decline` keeps them for the launch mail, with a friendly notice.',
  }),
  ids: ManyIds('bet', MAX_DECIDED),
});
export type DecideInput = Static<typeof DecideInput>;

export const BetaDecided = Type.Object({
  summary: ChangeSummary,
  results: Type.Array(
    Type.Object({
      id: Type.String({ examples: ['bet_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
      outcome: ChangeOutcomeSchema,
      status: Type.Optional(
        Choice(BETA_STATUSES, { $id: 'BetaStatus', description: 'The present status; omitted if not found.' }),
      ),
      ...refusalOfOne,
    }),
  ),
});
export type BetaDecided = Static<typeof BetaDecided>;

export const BetaInterestRemoved = Type.Object({ id: Type.String() });

export const PolicyInput = Input({
  policy: Choice(BETA_POLICIES, { $id: 'BetaPolicy' }),
  notify: Type.Optional(
    Type.Boolean({
      description: 'Whether approved people are mailed; softly declined people always are.',
      remedy: 'Give true or false.',
    }),
  ),
});
export type PolicyInput = Static<typeof PolicyInput>;

export const PolicyResult = Type.Object({
  policy: Choice(BETA_POLICIES, { $id: 'BetaPolicy' }),
  decided: Type.Integer({ description: 'Number of pending requests that it decided.' }),
});

export const GateInput = Input({ gate: Choice(SIGNIN_GATES, { $id: 'SignInGate' }) });

export const AccessInterestInput = Input({
  kind: Choice(['request', 'notify']),
  email: Email(),
  locale: Type.Optional(Locale('The language of the mails; that of `Accept-Language` if omitted.')),
});
export type AccessInterestInput = Static<typeof AccessInterestInput>;

export const InterestReceived = Type.Object({ received: Type.Literal(true) });

export const AccessStateInput = Input({
  email: Email(),
  ticket: Type.String({
    maxLength: 100,
    description: 'From the `interest` of a refused sign-in with this address.',
    remedy: 'Give the ticket of a refused sign-in.',
    examples: ['mc5x2k3q.6QmOHZ1rB0nTq9bJc2hXyw'],
  }),
});
export type AccessStateInput = Static<typeof AccessStateInput>;

export const AccessState = Type.Object({
  status: Choice(WAITLIST_STANDINGS, {
    $id: 'WaitlistStanding',
    description: '`notify`: mailed at the opening; `declined`: mailed at the opening too, and cannot request access.',
  }),
  since: Nullable(Timestamp({ description: 'When the request was made.' })),
});

export const PublicState = Type.Object({
  applicationId: Id('app'),
  clientId: Type.String(),
  name: Type.String(),
  stage: Choice(STAGES, { $id: 'Stage' }),
  signinGate: Choice(SIGNIN_GATES, { $id: 'SignInGate' }),
  betaRequestPolicy: Choice(BETA_POLICIES, { $id: 'BetaPolicy' }),
  archivedAt: Nullable(Timestamp()),
  deletedAt: Nullable(Timestamp()),
  isOpen: Type.Boolean({ description: 'Whether the application is in service: neither draft, archived nor deleted.' }),
});
export type PublicState = Static<typeof PublicState>;
