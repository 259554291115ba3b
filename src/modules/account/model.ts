import { type Static, Type } from '@sinclair/typebox';
import { DEVICE_TYPES } from '../../core/device-name.ts';
import { MEMBERSHIP_STATUSES } from '../../store/members.ts';
import { PROOF_PURPOSES } from '../sign-in/step-up.ts';
import { Identity } from '../profile/model.ts';
import {
  Choice,
  Email,
  Id,
  Input,
  Nullable,
  OneTimeCode,
  PageOf,
  RegionSchema,
  Timestamp,
} from '../../http/schemas.ts';

export const CodeAsked = Type.Object({ challengeId: Id('chl'), expiresAt: Timestamp() }, { $id: 'CodeAsked' });
export type CodeAsked = Static<typeof CodeAsked>;

export const CodeGiven = Input(
  {
    challengeId: Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the challengeId that you were answered.' }),
    code: OneTimeCode(),
  },
  { $id: 'CodeGiven' },
);
export type CodeGiven = Static<typeof CodeGiven>;

export const ProofInput = Input({
  purpose: Type.Optional(
    Choice(PROOF_PURPOSES, {
      description: 'The only purpose of the code. Default `session`: everything that needs a proof.',
    }),
  ),
  target: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'The target of the purpose: the new address for `email_change`, the id for `provider_removal`.',
      remedy: 'Give the new address or the id.',
    }),
  ),
});
export type ProofInput = Static<typeof ProofInput>;

export const Proved = Type.Object({
  freshUntil: Timestamp({ description: 'End of the time in which this session may make sensitive changes.' }),
});

const OwnSession = Type.Object(
  {
    id: Id('ses'),
    isCurrent: Type.Boolean({ description: 'Whether it is the calling session.' }),
    application: Type.Object({ id: Id('app'), name: Type.String() }),
    method: Type.String({ examples: ['otp'] }),
    device: Nullable(Type.String({ examples: ['Chrome on macOS'] })),
    browser: Nullable(
      Type.Object({
        browser: Nullable(Type.String({ examples: ['Chrome'] })),
        system: Nullable(Type.String({ examples: ['macOS'] })),
      }),
    ),
    deviceType: Nullable(Choice(DEVICE_TYPES)),
    ip: Nullable(Type.String()),
    ipCountry: Nullable(Type.String()),
    createdAt: Timestamp(),
    lastSeenAt: Timestamp(),
    expiresAt: Timestamp(),
  },
  { $id: 'OwnSession' },
);
export type OwnSession = Static<typeof OwnSession>;

export const OwnSessionPage = PageOf(OwnSession);

const revoked = Type.Integer({ description: 'Number of ended sessions.' });

export const OwnSessionsRevoked = Type.Object({ revoked });

export const SignOutQuery = Type.Object({
  devices: Type.Optional(
    Type.Boolean({
      description: '`false` keeps connected devices.',
      remedy: 'Give true or false.',
    }),
  ),
});

export const SignedOutElsewhere = Type.Object(
  { revoked, devices: Type.Integer({ description: 'Number of disconnected devices.', examples: [1] }) },
  { $id: 'SignedOutElsewhere' },
);
export type SignedOutElsewhere = Static<typeof SignedOutElsewhere>;

export const EmailChangeInput = Input({ email: Email() });
export const EmailChanged = Type.Object({ email: Email() });

export const MembershipInput = Input(
  {
    applicationId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'An application that the person is a member of; default the session’s own.',
        remedy: 'Give the id of an application.',
      }),
    ),
  },
  { $id: 'MembershipInput' },
);

export const MembershipState = Type.Object(
  { applicationId: Id('app'), status: Choice(MEMBERSHIP_STATUSES, { $id: 'MembershipStatus' }) },
  { $id: 'MembershipState' },
);
export type MembershipState = Static<typeof MembershipState>;

const Sentences = (description: string) => Type.Array(Type.String(), { description });

export const DeletionAsked = Type.Object({
  challengeId: Id('chl'),
  expiresAt: Timestamp(),
  deleted: Sentences('What a deletion deletes permanently.'),
  kept: Sentences('What is kept, and why.'),
  recordDays: Type.Integer({ description: 'Number of days that audit records are kept.' }),
});
export type DeletionAsked = Static<typeof DeletionAsked>;

/** Both fields are required. They are optional in the schema so that the error can say where to get a code. */
export const DeletionInput = Type.Partial(CodeGiven, { additionalProperties: false, remedy: 'Give a JSON object.' });
export type DeletionInput = Static<typeof DeletionInput>;

export const AccountDeleted = Type.Object({ userId: Id('usr'), kept: Sentences('What is kept, and why.') });
export type AccountDeleted = Static<typeof AccountDeleted>;

export const AccountExport = Type.Object({
  exportedAt: Timestamp(),
  userId: Id('usr'),
  tables: Type.Record(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown())), {
    description: 'The rows about the person, by table. Binary values are base64.',
  }),
});

const Sizes = Nullable(Type.Array(Type.Integer()));

const Membership = Type.Object(
  {
    applicationId: Id('app'),
    name: Type.String(),
    slug: Type.String(),
    status: Choice(MEMBERSHIP_STATUSES, { $id: 'MembershipStatus' }),
    username: Nullable(Type.String()),
    joinedAt: Timestamp(),
  },
  { $id: 'AccountMembership' },
);

export const Account = Type.Object(
  {
    userId: Id('usr'),
    email: Email(),
    emailVerifiedAt: Nullable(Timestamp()),
    identity: Identity,
    username: Nullable(Type.String({ description: 'In the application of this session.' })),
    applicationId: Id('app'),
    memberships: Type.Array(Membership),
    region: RegionSchema,
    avatarUrl: Nullable(Type.String({ format: 'uri' })),
    avatarSizes: Sizes,
    avatarUpdatedAt: Nullable(Timestamp()),
    bannerSizes: Sizes,
    bannerUpdatedAt: Nullable(Timestamp()),
    createdAt: Timestamp(),
  },
  { $id: 'Account' },
);
export type Account = Static<typeof Account>;
