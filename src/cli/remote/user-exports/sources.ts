/** The services whose exports `gatehouse users import --from` reads. */
import type { ExportedRecord } from './exported-record.ts';
import { sourceUser, rolesIn, type Source, without } from './source-user.ts';

/** CSV of the dashboard, or the answers of `GET /v1/users`. */
const clerk: Source = {
  name: 'Clerk',
  read(user) {
    const id = user.required('id');
    const [publicData, privateData] = [user.object('public_metadata'), user.object('private_metadata')];
    return sourceUser({
      id,
      email: clerkAddress(user),
      username: user.text('username'),
      givenName: user.text('first_name'),
      familyName: user.text('last_name'),
      roles: rolesIn(user, 'public_metadata', publicData),
      metadata: without({ ...publicData, ...privateData }, ['role', 'roles']),
      written: ['unsafe_metadata', user.object('unsafe_metadata')],
      isBlocked: user.flag('banned'),
    });
  },
};

function clerkAddress(user: ExportedRecord): string {
  const addresses = user.records('email_addresses');
  const primary = user.text('primary_email_address_id');
  const chosen = addresses.find((one) => one.text('id') === primary) ?? addresses[0];
  if (chosen) return chosen.text('email_address');
  const [verified = ''] = user.text('verified_email_addresses').split(/[\s,;|]+/);
  return user.text('primary_email_address') || verified;
}

/** Users export of the Management API or its extension: JSON lines, or CSV with columns such as `app_metadata.plan`. */
const auth0: Source = {
  name: 'Auth0',
  read(user) {
    const appData = user.object('app_metadata');
    const { roles: ofExtension } = (appData['authorization'] ?? {}) as { roles?: unknown };
    return sourceUser({
      id: user.required('user_id', 'id'),
      email: user.text('email'),
      username: user.text('username'),
      givenName: user.text('given_name'),
      familyName: user.text('family_name'),
      fullName: user.text('name'),
      roles: [
        ...rolesIn(user, 'app_metadata', appData),
        ...rolesIn(user, 'app_metadata.authorization', { roles: ofExtension }),
      ],
      metadata: without(appData, ['role', 'roles', 'authorization']),
      written: ['user_metadata', user.object('user_metadata')],
      isBlocked: user.flag('blocked'),
    });
  },
};

/** `firebase auth:export`, as JSON or as CSV, which has no heads. */
const firebase: Source = {
  name: 'Firebase',
  columns: [
    ...['localId', 'email', 'emailVerified', 'passwordHash', 'salt', 'displayName', 'photoUrl'],
    ...['google', 'facebook', 'twitter', 'github'].flatMap((provider) =>
      ['id', 'email', 'name', 'photo'].map((field) => `${provider}:${field}`),
    ),
    ...['createdAt', 'lastSignedInAt', 'phoneNumber', 'disabled', 'customAttributes'],
  ],
  read(user) {
    const claims = user.object('customAttributes');
    const [ofProvider = ''] = user.records('providerUserInfo').map((one) => one.text('email'));
    return sourceUser({
      id: user.required('localId'),
      email: user.text('email') || ofProvider,
      fullName: user.text('displayName'),
      roles: rolesIn(user, 'customAttributes', claims),
      metadata: without(claims, ['role', 'roles']),
      isBlocked: user.flag('disabled'),
    });
  },
};

/** Claims that identity providers repeat in the metadata of a user. */
const CLAIMS = [
  ...['iss', 'sub', 'email', 'email_verified', 'phone_verified', 'provider_id', 'name', 'full_name', 'custom_claims'],
  ...['avatar_url', 'picture', 'preferred_username', 'user_name', 'given_name', 'family_name'],
];

/** The table `auth.users` as CSV or JSON, or the answers of `GET /auth/v1/admin/users`. */
const supabase: Source = {
  name: 'Supabase',
  read(user, now) {
    const id = user.required('id');
    if (user.text('deleted_at') !== '') return { id, reason: 'deleted there' };
    const appData = user.object('raw_app_meta_data', 'app_metadata');
    const userData = user.object('raw_user_meta_data', 'user_metadata');
    const nameIn = (key: string) => (typeof userData[key] === 'string' ? userData[key] : '');
    const bannedUntil = user.text('banned_until');
    const end = bannedUntil === '' ? 0 : Date.parse(bannedUntil);
    if (Number.isNaN(end)) throw user.error('banned_until', 'is no time');
    return sourceUser({
      id,
      email: user.text('email'),
      givenName: nameIn('given_name'),
      familyName: nameIn('family_name'),
      fullName: nameIn('full_name') || nameIn('name'),
      roles: rolesIn(user, 'app_metadata', appData),
      metadata: without(appData, ['role', 'roles', 'provider', 'providers']),
      written: ['user_metadata', without(userData, CLAIMS)],
      isBlocked: end > now,
    });
  },
};

/** Roles that every user of a realm has. */
const REALM_DEFAULTS = /^(?:default-roles-.*|offline_access|uma_authorization)$/;

/** `kc.sh export` of a realm with its users, or the answers of `GET /admin/realms/{realm}/users`. */
const keycloak: Source = {
  name: 'Keycloak',
  empty: 'An export by its console has no users: use "kc.sh export --realm NAME --users realm_file".',
  read(user) {
    const id = user.required('id');
    if (user.text('serviceAccountClientId') !== '') return { id, reason: 'a service account' };
    const texts = (name: string) =>
      user.list(name).map((entry) => {
        if (typeof entry !== 'string') throw user.error(name, 'is no list of texts');
        return entry;
      });
    const attributes = Object.entries(user.object('attributes')).map(([name, values]) => [
      name,
      Array.isArray(values) && values.length === 1 ? values[0] : values,
    ]);
    const { locale, ...metadata } = Object.fromEntries(attributes) as Record<string, unknown>;
    return sourceUser({
      id,
      email: user.text('email'),
      username: user.text('username'),
      givenName: user.text('firstName'),
      familyName: user.text('lastName'),
      locale: typeof locale === 'string' ? locale : '',
      roles: texts('realmRoles').filter((role) => !REALM_DEFAULTS.test(role)),
      groups: texts('groups').map((path) => path.replace(/^\//, '')),
      metadata,
      isBlocked: !user.flag('enabled', true),
    });
  },
};

/** The table `user` as CSV or JSON, with the columns of the plugins `admin` and `username`. */
const betterAuth: Source = {
  name: 'Better Auth',
  read(user, now) {
    const banExpires = user.text('banExpires');
    const end = banExpires === '' ? Infinity : Date.parse(banExpires);
    if (Number.isNaN(end)) throw user.error('banExpires', 'is no time');
    return sourceUser({
      id: user.required('id'),
      email: user.flag('isAnonymous') ? '' : user.text('email'),
      username: user.text('username'),
      fullName: user.text('name'),
      roles: user
        .text('role')
        .split(',')
        .map((role) => role.trim())
        .filter(Boolean),
      isBlocked: user.flag('banned') && end > now,
    });
  },
};

export const SOURCES = { clerk, auth0, firebase, supabase, keycloak, 'better-auth': betterAuth } as const;
export const SOURCE_NAMES = Object.keys(SOURCES) as (keyof typeof SOURCES)[];
