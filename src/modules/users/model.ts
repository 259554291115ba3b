import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import {
  ChangeOutcomeSchema,
  ChangeSummary,
  Choice,
  Email,
  SlugsHeld,
  Id,
  Input,
  LanguageSchema,
  LanguageTag,
  ManyIds,
  Nullable,
  PageOf,
  PageQuery,
  refusalOfOne,
  Remark,
  Timestamp,
  TimeZone,
} from '../../http/schemas.ts';
import { LOCALES } from '../../core/locale.ts';
import { IdentityPatch } from '../../http/identity-input.ts';
import { ATTRIBUTES_INPUT, ExternalId, MetadataObject } from '../../http/user-attributes.ts';
import type { GrantKind } from '../../store/grants.ts';
import { MEMBERSHIP_STATUSES } from '../../store/members.ts';
import { STATUS_ACTIONS } from './status.ts';

export const Profile = Type.Object(
  {
    fullName: Nullable(Type.String()),
    givenName: Nullable(Type.String()),
    familyName: Nullable(Type.String()),
    avatarUrl: Nullable(Type.String()),
    locale: Nullable(LanguageTag()),
    timezone: Nullable(TimeZone()),
    languages: Type.Array(LanguageSchema),
  },
  { $id: 'Profile' },
);

const entry = {
  userId: Id('usr'),
  externalId: Nullable(Type.String()),
  username: Nullable(Type.String()),
  email: Email(),
  status: Choice(MEMBERSHIP_STATUSES, { $id: 'MembershipStatus' }),
  roles: SlugsHeld(),
  scopes: SlugsHeld(),
  memberships: SlugsHeld(),
  /** Null for imported people who have not signed in yet. */
  lastSeenAt: Nullable(Timestamp()),
  joinedAt: Timestamp(),
} satisfies TProperties;

/** Shown with full access. */
const forAdmins = { profile: Type.Optional(Profile), metadata: Type.Optional(MetadataObject) };

export const UserEntry = Type.Object({ ...entry, ...forAdmins }, { $id: 'UserEntry' });
export type UserEntry = Static<typeof UserEntry>;

export const UserPage = PageOf(UserEntry);

export const USER_STATUS_FILTERS = [...MEMBERSHIP_STATUSES, 'imported'] as const;
export type UserStatusFilter = (typeof USER_STATUS_FILTERS)[number];
export const UserStatusFilterSchema = (options: SchemaOptions = {}) =>
  Choice(USER_STATUS_FILTERS, { $id: 'UserStatusFilter', ...options });

export const HeldSlug = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, description, remedy: 'Give a slug.', examples: ['developer'] });

export const UsersQuery = Type.Composite([
  PageQuery,
  Type.Object({
    include: Type.Optional(
      Type.String({
        pattern: '^(?:profile|metadata|profile,metadata)$',
        description:
          '`profile`: names, locale, time zone, picture and languages of each; `metadata`; or `profile,metadata`. For admins.',
        remedy: 'Give profile, metadata or profile,metadata.',
        examples: ['profile'],
      }),
    ),
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 320,
        description:
          'Words in any order, each part of the e-mail, the username or, with full access, the name; or a whole user id. Case and accents make no difference.',
        remedy: 'Give 1 to 320 characters.',
      }),
    ),
    sort: Type.Optional(
      Choice(['last_seen', 'joined'], {
        description:
          'Default: last seen first. `joined` keeps the order stable while pages are read, as an export needs.',
      }),
    ),
    status: Type.Optional(
      UserStatusFilterSchema({
        description: 'Only users in this state. `imported`: active ones who have never signed in.',
      }),
    ),
    role: Type.Optional(HeldSlug('Only users with this role, by its slug.')),
    membership: Type.Optional(HeldSlug('Only users in this membership group, by its slug.')),
    externalId: Type.Optional(ExternalId({ description: 'The user with this id; without other filters.' })),
  }),
]);
export type UsersQuery = Static<typeof UsersQuery>;

export const UserDetail = Type.Object(
  {
    ...entry,
    kind: Choice(['person', 'api_key']),
    statusReason: Nullable(Type.String()),
    emailVerifiedAt: Nullable(Timestamp()),
    ...forAdmins,
    apiKey: Type.Optional(
      Type.Object(
        { id: Id('key'), name: Type.String(), applicationId: Nullable(Id('app')) },
        { description: 'The newest API key of a key’s principal, whose name is shown for it; for admins.' },
      ),
    ),
  },
  { $id: 'UserDetail' },
);
export type UserDetail = Static<typeof UserDetail>;

export const UserPatch = Input(
  {
    ...ATTRIBUTES_INPUT,
    username: Type.Optional(
      Type.Union([Type.String(), Type.Null()], { isAnyText: true, remedy: 'Give a username, or null to have none.' }),
    ),
    profile: Type.Optional(IdentityPatch),
  },
  { $id: 'UserPatch' },
);
export type UserPatch = Static<typeof UserPatch>;

export const UserForgotten = Type.Object({ userId: Id('usr') });

export const ReasonInput = Input({ reason: Type.Optional(Remark()) }, { $id: 'ReasonInput' });

const WantedSlugs = (description?: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 200,
      ...(description && { description }),
      remedy: 'Give a list of slugs.',
    }),
  );
const OLDER = 'Older name.';

/** The slugs a user is to hold, under the name of their kind; `slugs` is the older name. */
export const SLUGS_INPUTS = {
  roles: Input({ roles: WantedSlugs(), slugs: WantedSlugs(OLDER) }, { $id: 'RolesInput' }),
  scopes: Input({ scopes: WantedSlugs(), slugs: WantedSlugs(OLDER) }, { $id: 'ScopesInput' }),
  memberships: Input({ memberships: WantedSlugs(), slugs: WantedSlugs(OLDER) }, { $id: 'MembershipsInput' }),
} as const satisfies Record<GrantKind, TSchema>;
export type SlugsInput = { readonly slugs?: string[] } & { readonly [Kind in GrantKind]?: string[] };

export const SlugsResult = Type.Object({ slugs: SlugsHeld() }, { $id: 'SlugsResult' });

export const UserSession = Type.Object(
  {
    id: Id('ses'),
    method: Type.String({ examples: ['otp'] }),
    ip: Nullable(Type.String()),
    userAgent: Nullable(Type.String()),
    lastSeenAt: Timestamp(),
    createdAt: Timestamp(),
    expiresAt: Timestamp(),
  },
  { $id: 'UserSession' },
);
export type UserSession = Static<typeof UserSession>;

export const UserSessionPage = PageOf(UserSession);

export const SessionsRevoked = Type.Object({ revoked: Type.Integer() }, { $id: 'SessionsRevoked' });

export const InviteInput = Input({
  locale: Type.Optional(
    Choice(LOCALES, {
      $id: 'MailLocale',
      description: 'That of their profile if omitted.',
    }),
  ),
});
export type InviteInput = Static<typeof InviteInput>;

export const UserInvited = Type.Object(
  {
    sent: Type.Boolean({ description: 'False if they were invited within the hour.' }),
    resendAt: Timestamp({ description: 'From when they can be invited again.' }),
  },
  { $id: 'UserInvited' },
);
export type UserInvited = Static<typeof UserInvited>;

const MAX_USERS = 200;

export const UsersChange = Input({
  action: Choice(STATUS_ACTIONS, { $id: 'UserAction' }),
  userIds: ManyIds('usr', MAX_USERS),
  reason: Type.Optional(Remark()),
});
export type UsersChange = Static<typeof UsersChange>;

const outcome = { userId: Type.String(), outcome: ChangeOutcomeSchema };

export const UsersChanged = Type.Object({
  summary: ChangeSummary,
  results: Type.Array(
    Type.Object({
      ...outcome,
      status: Type.Optional(
        Choice(MEMBERSHIP_STATUSES, {
          $id: 'MembershipStatus',
          description: 'The present status; omitted if not found.',
        }),
      ),
      ...refusalOfOne,
    }),
  ),
});
export type UsersChanged = Static<typeof UsersChanged>;

const GrantSlugs = Type.Optional(
  Type.Array(Type.String({ maxLength: 64, examples: ['editor'] }), { maxItems: 200, remedy: 'Give a list of slugs.' }),
);
export const GrantsOfKind = Type.Optional(Input({ add: GrantSlugs, remove: GrantSlugs }));

export const GrantsChange = Input({
  userIds: ManyIds('usr', MAX_USERS),
  roles: GrantsOfKind,
  scopes: GrantsOfKind,
  memberships: GrantsOfKind,
});
export type GrantsChange = Static<typeof GrantsChange>;

export const GrantsChanged = Type.Object({
  summary: ChangeSummary,
  results: Type.Array(
    Type.Object({
      ...outcome,
      roles: Type.Optional(SlugsHeld()),
      scopes: Type.Optional(SlugsHeld()),
      memberships: Type.Optional(SlugsHeld()),
    }),
    { description: 'Results with the slugs now held, for each kind in the request.' },
  ),
});
export type GrantsChanged = Static<typeof GrantsChanged>;
