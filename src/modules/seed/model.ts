/** Schemas of the seed file, of the call that applies it, and of its result. Field names are those of the API. */
import { type Static, Type } from '@sinclair/typebox';
import { Choice, Email, Input, Nullable, Slug } from '../../http/schemas.ts';
import { ApplicationKeyInput, WorkspaceKeyInput } from '../api-keys/model.ts';
import { ApplicationInput, ApplicationSchema } from '../applications/model.ts';
import { GrantInput } from '../grants/model.ts';
import { ImportProfile, ImportRow } from '../import/model.ts';
import { OpenIdInput } from '../openid/model.ts';
import { ProviderInput } from '../provider/model.ts';
import { WebhookInput, WebhookPatch } from '../webhooks/model.ts';

const MAX_APPLICATIONS = 1000;
const MAX_GRANTS = 1000;
const MAX_KEYS = 1000;

/** A reference to the environment variable that holds a secret. */
const EnvironmentReference = Input(
  {
    env: Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
      remedy: 'Give the name of an environment variable, such as SHOP_KEY.',
      examples: ['SHOP_KEY'],
    }),
  },
  {
    $id: 'EnvironmentReference',
    description: 'Name of the variable with the secret, where the file is applied.',
    remedy: 'Give {"env": "NAME"}: secrets stand in the environment, not in the file.',
  },
);

const { slug, stage, signinGate, betaRequestPolicy } = ApplicationSchema.properties;
const { slug: _slug, ...settings } = ApplicationInput.properties;
const { clientSecret: _secret, ...provider } = ProviderInput.properties;
const { roleSlugs, scopeSlugs, membershipSlugs, externalId, metadata } = ImportRow.properties;
const { memberships, ...keyFields } = ApplicationKeyInput.properties;
const {
  applicationIds: _ids,
  roles: _roles,
  scopes: _scopes,
  memberships: _memberships,
  ...workspaceKeyFields
} = WorkspaceKeyInput.properties;

const token = { token: EnvironmentReference };
const Grants = () =>
  Type.Optional(Type.Array(GrantInput, { maxItems: MAX_GRANTS, remedy: `Give a list of at most ${MAX_GRANTS}.` }));

export const SeedUser = Input(
  {
    email: ImportRow.properties.email,
    ...ImportProfile.properties,
    roles: roleSlugs,
    scopes: scopeSlugs,
    groups: membershipSlugs,
    externalId,
    metadata,
  },
  { $id: 'SeedUser', description: 'Adds users and fills blank fields; removes nothing and mails nobody.' },
);
export type SeedUser = Static<typeof SeedUser>;

export const SeedWebhook = Input(
  {
    ...WebhookInput.properties,
    status: WebhookPatch.properties.status,
    secret: Type.Optional(EnvironmentReference),
  },
  { $id: 'SeedWebhook', description: 'Identified by its URL. Without `secret` it gets a generated one.' },
);
export type SeedWebhook = Static<typeof SeedWebhook>;

export const SeedKey = Input({ ...keyFields, groups: memberships, ...token }, { $id: 'SeedKey' });
export type SeedKey = Static<typeof SeedKey>;

export const SeedWorkspaceKey = Input(
  {
    ...workspaceKeyFields,
    applications: Type.Optional(
      Type.Array(Slug(), {
        minItems: 1,
        maxItems: 200,
        description: 'Slugs of the applications that it is limited to; all of the workspace if omitted.',
        remedy: 'Give 1 to 200 slugs of applications, or leave it out for all.',
      }),
    ),
    ...token,
  },
  { $id: 'SeedWorkspaceKey' },
);
export type SeedWorkspaceKey = Static<typeof SeedWorkspaceKey>;

export const SeedProvider = Input({ ...provider, clientSecret: EnvironmentReference }, { $id: 'SeedProvider' });
export type SeedProvider = Static<typeof SeedProvider>;

export const SeedApplication = Input(
  {
    slug,
    ...settings,
    stage: Type.Optional(stage),
    signinGate: Type.Optional(signinGate),
    betaRequestPolicy: Type.Optional(betaRequestPolicy),
    identityProvider: Type.Optional(SeedProvider),
    openid: Type.Optional(OpenIdInput),
    roles: Grants(),
    standardRoles: Type.Optional(
      Type.Boolean({
        description: 'A new application also gets the roles `user` and `developer`; false leaves them out.',
        remedy: 'Give true or false.',
      }),
    ),
    scopes: Grants(),
    groups: Grants(),
    webhooks: Type.Optional(Type.Array(SeedWebhook, { maxItems: 20, remedy: 'Give a list of at most 20.' })),
    apiKeys: Type.Optional(Type.Array(SeedKey, { maxItems: MAX_KEYS, remedy: 'Give a list of keys.' })),
    allowlist: Type.Optional(Type.Array(Email(), { remedy: 'Give a list of e-mail addresses.' })),
    users: Type.Optional(Type.Array(SeedUser, { remedy: 'Give a list of users.' })),
  },
  {
    $id: 'SeedApplication',
    description: 'Identified by its slug. Omitted parts stay unchanged; a stage only moves forward.',
  },
);
export type SeedApplication = Static<typeof SeedApplication>;

export const SeedDocument = Input(
  {
    $schema: Type.Optional(Type.String({ description: 'For editors.', examples: ['gatehouse.schema.json'] })),
    applications: Type.Optional(
      Type.Array(SeedApplication, {
        maxItems: MAX_APPLICATIONS,
        remedy: `Give a list of at most ${MAX_APPLICATIONS}.`,
      }),
    ),
    apiKeys: Type.Optional(
      Type.Array(SeedWorkspaceKey, {
        maxItems: MAX_KEYS,
        description: 'Of the workspace.',
        remedy: 'Give a list of keys.',
      }),
    ),
  },
  { $id: 'SeedDocument' },
);
export type SeedDocument = Static<typeof SeedDocument>;

const common = {
  secrets: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 2000 }), {
      description: 'Values of the variables that the document refers to, by name.',
      remedy: 'Give an object of texts by the names of the variables.',
      examples: [{ SHOP_KEY: 'eak_…' }],
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Only reports what would change.', remedy: 'Give true or false.' }),
  ),
};

export const ApplyInput = Input({ document: SeedDocument, ...common });
export const ApplyApplicationInput = Input({ application: SeedApplication, ...common });

const CHANGED_KINDS = [
  'application',
  'role',
  'scope',
  'group',
  'provider',
  'openid',
  'webhook',
  'key',
  'allowlist',
  'user',
] as const;
export type ChangedKind = (typeof CHANGED_KINDS)[number];

export const SeedChange = Type.Object(
  {
    action: Choice(['create', 'update'], { $id: 'SeedAction' }),
    kind: Choice(CHANGED_KINDS, { $id: 'SeedKind' }),
    application: Nullable(
      Type.String({ description: 'Slug of the application; null for items of the workspace.', examples: ['shop'] }),
    ),
    name: Type.String({ description: 'The slug, URL or name that identifies it.', examples: ['editor'] }),
    fields: Type.Array(
      Type.Object({
        field: Type.String({ examples: ['name'] }),
        from: Nullable(Type.String({ description: 'JSON; null if not shown.', examples: ['"Writer"'] })),
        to: Nullable(Type.String({ examples: ['"Editor"'] })),
      }),
      { description: 'The changed fields.' },
    ),
  },
  { $id: 'SeedChange' },
);
export type SeedChange = Static<typeof SeedChange>;

export const ApplyResult = Type.Object(
  {
    changes: Type.Array(SeedChange, { description: 'Changes made, or to be made, in this order.' }),
    unchanged: Type.Integer({ description: 'Number of items that already match the document.', examples: [12] }),
    notes: Type.Array(
      Type.Object({
        path: Type.String({ examples: ['document.applications.0.stage'] }),
        message: Type.String({ examples: ['It stays live: a stage only moves forward.'] }),
      }),
      { description: 'What was left unchanged, and why.' },
    ),
    skipped: Type.Array(
      Type.Object({
        application: Type.String({ examples: ['shop'] }),
        email: Email(),
        error: Type.String({ description: 'The same codes as for an import.', examples: ['user_deleted'] }),
      }),
      { description: 'Users who cannot be added; all others are.' },
    ),
    signingSecrets: Type.Array(
      Type.Object({
        application: Type.String({ examples: ['shop'] }),
        url: Type.String(),
        signingSecret: Type.String({ description: 'Returned once, in plain text.', examples: ['whsec_…'] }),
      }),
      { description: 'Secrets of new webhooks that were created without one.' },
    ),
  },
  { $id: 'ApplyResult' },
);
export type ApplyResult = Static<typeof ApplyResult>;
