import { type Static, type TProperties, Type } from '@sinclair/typebox';
import {
  Choice,
  Email,
  Id,
  Input,
  Name,
  NewSecret,
  Nullable,
  PageQuery,
  SecretPrefix,
  Timestamp,
} from '../../http/schemas.ts';
import { ACCOUNT_FIELDS, OPTIONAL_PARTS } from '../../core/account-view.ts';
import { SIGNIN_METHODS } from '../../core/sign-in-methods.ts';
import { BETA_POLICIES, SIGNIN_GATES, STAGES, TOKEN_REFUSALS } from '../../store/applications.ts';
import { LEGAL_URL_KINDS } from '../../store/legal-url-checks.ts';

const ApplicationSlug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  remedy: 'Give 1 to 63 of a-z, 0-9 and hyphens, not starting or ending with a hyphen.',
  examples: ['shop'],
  description: 'Unique on the server. Former slugs stay reserved for the application.',
});

const WEB_ADDRESS = {
  maxLength: 2000,
  pattern: '^https?://[^\\s/\\\\]+(?:/[^\\s\\\\]*)?$',
  remedy: 'Give an absolute http or https address, or null.',
} as const;

const HttpUrl = Type.String({ $id: 'HttpUrl', ...WEB_ADDRESS, examples: ['https://shop.example.com/terms'] });

const ReturnUrl = Type.String({
  minLength: 1,
  maxLength: 2000,
  remedy: 'Give an absolute https address.',
  examples: ['https://shop.example.com/signed-in'],
});

export const SUPPORT_EMAIL_REMEDY = 'Give an e-mail address, or null.';

const legalUrls = { terms: Nullable(HttpUrl), privacy: Nullable(HttpUrl), imprint: Nullable(HttpUrl) };

/** Named, so that the API description defines each once. */
const webAddress = ($id: string, description: string, example: string) =>
  Nullable(Type.String({ $id, ...WEB_ADDRESS, description, examples: [example] }));

const branding = {
  logoUrl: Nullable(HttpUrl),
  logoDarkUrl: Nullable(HttpUrl),
  iconUrl: Nullable(HttpUrl),
  accentColor: Nullable(
    Type.String({ pattern: '^#[0-9a-fA-F]{6}$', remedy: 'Give a colour as #rrggbb, or null.', examples: ['#3b5bdb'] }),
  ),
  homeUrl: webAddress(
    'HomeUrl',
    'Where pages lead back to, by default the origin of the first return URL.',
    'https://shop.example.com/',
  ),
  supportUrl: webAddress(
    'SupportUrl',
    'Where people get help; preferred to `supportEmail` on pages.',
    'https://shop.example.com/help',
  ),
  supportEmail: Nullable(
    Email({ $id: 'SupportEmail', remedy: SUPPORT_EMAIL_REMEDY, examples: ['help@shop.example.com'] }),
  ),
};

const account = {
  parts: Type.Array(Choice(OPTIONAL_PARTS), {
    $id: 'AccountParts',
    uniqueItems: true,
    description: 'Shown by `/account` besides `sign-in`, `devices` and `data`, which always are.',
    remedy: `Give some of ${OPTIONAL_PARTS.join(', ')}, each once.`,
  }),
  fields: Type.Array(Choice(ACCOUNT_FIELDS), {
    $id: 'AccountFields',
    uniqueItems: true,
    description: 'Shown by those parts. People can change hidden ones by the API.',
    remedy: `Give some of ${ACCOUNT_FIELDS.join(', ')}, each once.`,
  }),
};

const settings = {
  name: Name(),
  slug: ApplicationSlug,
  returnUrls: Type.Array(ReturnUrl, { maxItems: 20, remedy: 'Give at most 20 addresses.' }),
  legalUrls: Input(optional(legalUrls)),
  branding: Input(optional(branding), { $id: 'BrandingInput' }),
  account: Input(optional(account), { $id: 'AccountViewInput' }),
  signinMethods: Type.Array(Choice(SIGNIN_METHODS, { $id: 'SignInMethod' }), {
    minItems: 1,
    uniqueItems: true,
    remedy: `Give at least one of ${SIGNIN_METHODS.join(', ')}, each once.`,
  }),
  defaultRoles: Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: 100,
    description: 'Slugs of the roles granted to people who join.',
    remedy: 'Give a list of role slugs.',
    examples: [['user']],
  }),
  sessionTtlSeconds: Type.Integer({
    minimum: 300,
    maximum: 31_536_000,
    description:
      'How long a session lasts from its sign-in. Use does not extend it; only a refresh token of OpenID Connect does. Open sessions keep their end.',
    remedy: 'Give a whole number of seconds from 300 to 31536000 (365 days).',
  }),
};

export const ApplicationPatch = Input(optional(settings));
export type ApplicationPatch = Static<typeof ApplicationPatch>;

const { defaultRoles: _, ...creatable } = settings;
/** Without default roles: a new application has no other roles yet and grants `user`. */
export const ApplicationInput = Input(optional(creatable));
export type ApplicationInput = Static<typeof ApplicationInput>;

export const ApplicationSchema = Type.Object(
  {
    id: Id('app'),
    workspaceId: Id('wsp'),
    clientId: Type.String({ description: 'Public; not a credential.', examples: ['cli_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
    slug: ApplicationSlug,
    name: Name(),
    stage: Choice(STAGES, { $id: 'Stage' }),
    signinGate: Choice(SIGNIN_GATES, { $id: 'SignInGate' }),
    betaRequestPolicy: Choice(BETA_POLICIES, { $id: 'BetaPolicy' }),
    signinMethods: Type.Array(Choice(SIGNIN_METHODS, { $id: 'SignInMethod' })),
    defaultRoles: Type.Array(Type.String()),
    sessionTtlSeconds: Type.Integer({
      description: 'Seconds that new sessions last; 30 days unless set.',
      examples: [2_592_000],
    }),
    returnUrls: Type.Array(ReturnUrl),
    legalUrls: Type.Object(legalUrls),
    branding: Type.Object(branding, { $id: 'Branding' }),
    account: Type.Object(account, { $id: 'AccountView' }),
    clientSecretPrefix: Nullable(Type.String({ description: 'Null until a client secret exists.' })),
    pendingWork: Nullable(
      Type.Object(
        {
          kind: Type.String({ examples: ['end_sessions'] }),
          done: Type.Integer({ description: 'Rows written.' }),
          total: Nullable(Type.Integer({ description: 'Null until counted.' })),
        },
        {
          description:
            'A change that is in force while its events, mails and rows are still being written; null if none.',
        },
      ),
    ),
    archivedAt: Nullable(Timestamp()),
    deletedAt: Nullable(Timestamp()),
    purgeAfter: Nullable(
      Timestamp({
        description: 'When a deleted application is hidden from the lists. Nothing is ever removed.',
      }),
    ),
    isHidden: Type.Boolean({
      description: 'Deleted and past `purgeAfter`, by the server’s clock: listed only with `include=hidden`.',
    }),
    firstVerifiedAt: Nullable(
      Timestamp({
        description:
          'First successful verification of a session or personal key of the application, by `/api/v1/verify`, `/api/v1/session` or introspection; written within a second.',
      }),
    ),
    verificationRefusal: Nullable(
      Type.Object(
        { error: Choice(TOKEN_REFUSALS, { $id: 'TokenRefusal' }), at: Timestamp() },
        {
          description:
            'Until the first success: the last refused verification by a key or client secret of the application; null if none.',
        },
      ),
    ),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { $id: 'Application' },
);
export type ApplicationRecord = Static<typeof ApplicationSchema>;

export const StageChange = Type.Intersect(
  [
    ApplicationSchema,
    Type.Object({
      warnings: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: 'What is still missing; none of it prevented the change.',
      }),
    }),
  ],
  { $id: 'StageChange' },
);
export type StageChange = Static<typeof StageChange>;

export const ApplicationsQuery = Type.Composite([
  PageQuery,
  Type.Object({
    include: Type.Optional(
      Type.String({
        pattern: '^hidden$',
        description: '`hidden` includes hidden applications.',
        remedy: 'The only thing to include is "hidden".',
        examples: ['hidden'],
      }),
    ),
  }),
]);
export type ApplicationsQuery = Static<typeof ApplicationsQuery>;

export const ClientSecret = Type.Object(
  {
    clientSecret: NewSecret('clientSecret'),
    prefix: SecretPrefix('clientSecret'),
    rotatedAt: Timestamp(),
  },
  { $id: 'ClientSecret' },
);

export const SignInTrial = Type.Object(
  {
    url: Type.String({
      format: 'uri',
      examples: [
        'https://auth.example.com/sign-in?clientId=cli_01kat1h5ppe3bv2d9g3wq5r1xm&trial=mg3w.q5r1xmAAAAAAAAAAAAAAAA',
      ],
    }),
    expiresAt: Timestamp(),
  },
  { $id: 'SignInTrial' },
);

export const UrlChecks = Type.Object(
  {
    urls: Type.Array(
      Type.Object({
        kind: Choice(LEGAL_URL_KINDS, { $id: 'LegalUrlKind' }),
        url: Nullable(Type.String()),
        status: Choice(['ok', 'broken', 'unreachable', 'refused', 'missing'], {
          description:
            '`broken`: answered with an error; `unreachable`: no answer; `refused`: not a public address; `missing`: none is set.',
        }),
        finalCode: Nullable(Type.Integer({ description: 'HTTP status of the last answer.' })),
        checkedAt: Nullable(Timestamp()),
      }),
    ),
  },
  { $id: 'UrlChecks' },
);
export type UrlChecks = Static<typeof UrlChecks>;

function optional<Properties extends TProperties>(properties: Properties) {
  return Type.Partial(Type.Object(properties)).properties;
}
