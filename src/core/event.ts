/** The catalogue of event types that applications can subscribe to, with the schema of the data each carries. */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import type { SignInMethod } from './sign-in-methods.ts';

const Slugs = (description: string) => Type.Array(Type.String(), { description });
const Current = Slugs('The full set now.');

/** Every payload has the user's id. */
const about = <Properties extends TProperties>(properties: Properties) =>
  Type.Object({ userId: Type.String(), ...properties });

const onSession = about({ sessionId: Type.String() });
const byAdmin = about({ reason: Type.Optional(Type.String({ description: 'Only if one was given.' })) });
const Nullable = Type.Union([Type.String(), Type.Null()]);
const image = about({
  url: Nullable,
  sizes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
  updatedAt: Nullable,
});

const externalId = Type.Optional(Type.String({ description: 'Their id in your own systems; only if one was set.' }));

/** The 23 types of the contract. Types and fields are only ever added. */
export const EVENT_SCHEMAS = {
  'user.signed_in': about({
    sessionId: Type.String(),
    method: Type.Unsafe<SignInMethod>(Type.String()),
    email: Type.String(),
    isNewUser: Type.Boolean({ description: 'Whether this is their first sign-in to the application.' }),
    externalId,
  }),
  'user.signed_out': onSession,
  'user.session_revoked': about({ sessionId: Type.String(), reason: Type.String() }),
  'user.session_expired': onSession,
  'user.banned': byAdmin,
  'user.unbanned': byAdmin,
  'user.paused': byAdmin,
  'user.resumed': byAdmin,
  'user.deleted': about({
    reason: Type.Optional(Type.String({ description: 'Only if one was given.' })),
    forgotten: Type.Optional(
      Type.Boolean({
        description:
          'True if an imported person was deleted: keep no data about them. The address may sign in again, as a new user.',
      }),
    ),
  }),
  'user.restored': about({
    reason: Type.Optional(Type.String({ description: 'Only if one was given.' })),
    status: Type.Optional(
      Type.String({ description: 'Set if not `active`: the state before the deletion, such as `banned`.' }),
    ),
  }),
  'user.inactivated': about({}),
  'user.reactivated': about({}),
  'user.left': about({}),
  'user.role_added': about({ roles: Slugs('The roles added.'), current: Current }),
  'user.role_removed': about({ roles: Slugs('The roles removed.'), current: Current }),
  'user.scope_added': about({ scopes: Slugs('The scopes added.'), current: Current }),
  'user.scope_removed': about({ scopes: Slugs('The scopes removed.'), current: Current }),
  'user.membership_changed': about({
    memberships: Current,
    added: Slugs('The groups joined.'),
    removed: Slugs('The groups left.'),
  }),
  'user.profile_updated': about({
    name: Type.String({ description: 'Empty if unknown.' }),
    categories: Slugs(
      'From `identity`, `languages`, `region`, `addresses`, `legal_entities`, `external_id`, `metadata`; more may be added.',
    ),
    changed: Type.Optional(Slugs('With `identity`: the fields that changed.')),
    externalId,
  }),
  'user.username_changed': about({ username: Nullable, previousUsername: Nullable }),
  'user.avatar_changed': image,
  'user.banner_changed': image,
  'user.identity_changed': about({ changed: Slugs('Any of `email`, `provider`, `passkey`.') }),
} as const;

export type EventType = keyof typeof EVENT_SCHEMAS;

export const EVENT_TYPES = Object.keys(EVENT_SCHEMAS) as EventType[];

/**
 * Events that event streams do not carry. A client learns of a ban or a deletion when the stream ends with the session.
 * modules/live/hub.ts must send every type that is not listed here.
 */
export const UNSHOWN = [
  'user.signed_in',
  'user.banned',
  'user.unbanned',
  'user.paused',
  'user.resumed',
  'user.deleted',
  'user.restored',
  'user.inactivated',
  'user.reactivated',
  'user.left',
] as const satisfies readonly EventType[];

/** The type of a test delivery; nobody subscribes to it. */
export const TEST_EVENT_TYPE = 'webhook.test';

export type EventData = { [Type in EventType]: Static<(typeof EVENT_SCHEMAS)[Type]> };

/** One event, as reported by the operation that causes it; the unit of work adds id and time. */
export type DomainEvent = {
  [Type in EventType]: { readonly type: Type; readonly applicationId: string; readonly data: EventData[Type] };
}[EventType];

export type ShownEvent = Exclude<DomainEvent, { readonly type: (typeof UNSHOWN)[number] }>;

export function isShown(event: DomainEvent): event is ShownEvent {
  return !(UNSHOWN as readonly EventType[]).includes(event.type);
}
