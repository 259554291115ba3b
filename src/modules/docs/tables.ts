/** Tables generated from the code for the guides: events with their data, error codes, limits. */
import type { TObject, TSchema } from '@sinclair/typebox';
import { ERROR_CATALOGUE } from '../../core/error.ts';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '../../core/event.ts';
import { LIMITS, limitText } from '../../http/limits.ts';

/** When each event is emitted. */
const OCCASIONS: Readonly<Record<EventType, string>> = {
  'user.signed_in': 'A session began.',
  'user.signed_out': 'The person ended their session.',
  'user.session_revoked': 'A session ended with what it rested on, or was ended by somebody else.',
  'user.session_expired': 'A session reached the end of its time.',
  'user.banned': 'An administrator banned the user.',
  'user.unbanned': 'The ban was lifted.',
  'user.paused': 'An administrator paused the user.',
  'user.resumed': 'The pause ended.',
  'user.deleted':
    'The user was deleted; that address cannot sign in to the application any more. With `forgotten`, an import was taken back and the address is free.',
  'user.restored': 'The deletion was taken back.',
  'user.inactivated': 'The person put their own account to rest.',
  'user.reactivated': 'They came back by signing in.',
  'user.left': 'The person left the application.',
  'user.role_added': 'Roles were given.',
  'user.role_removed': 'Roles were taken away.',
  'user.scope_added': 'Scopes were given.',
  'user.scope_removed': 'Scopes were taken away.',
  'user.membership_changed': 'Groups were joined or left.',
  'user.profile_updated': 'The person changed what they say of themselves.',
  'user.username_changed': 'They have another username; null where it was removed.',
  'user.avatar_changed': 'They have another picture; null where it was removed.',
  'user.banner_changed': 'They have another banner; null where it was removed.',
  'user.identity_changed': 'What they sign in with changed.',
};

export function eventsTable(): string {
  const rows = EVENT_TYPES.map((type) => `| \`${type}\` | ${OCCASIONS[type]} | ${fieldsOf(EVENT_SCHEMAS[type])} |`);
  return ['| Event | When | `data` |', '| --- | --- | --- |', ...rows].join('\n');
}

function fieldsOf(schema: TObject): string {
  const required = new Set(schema.required);
  return Object.entries(schema.properties)
    .map(([name, field]) => {
      const said = typeof field.description === 'string' ? `: ${field.description.replace(/\.$/, '')}` : '';
      return `\`${name}\`${required.has(name) ? '' : ' (not always)'} ${kindOf(field)}${said}`;
    })
    .join('<br>');
}

function kindOf(schema: TSchema): string {
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map((one: TSchema) => kindOf(one)).join(' or ');
  if (schema['type'] === 'array') return `list of ${kindOf(schema['items'] as TSchema)}s`;
  return String(schema['type']);
}

export function errorsTable(): string {
  const rows = Object.entries(ERROR_CATALOGUE)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message.replaceAll('|', '\\|')} |`);
  return ['| Status | Code | What to do |', '| --- | --- | --- |', ...rows].join('\n');
}

export function limitsTable(): string {
  const rows = Object.values(LIMITS).map(
    (limit) => `| ${limitText(limit)} | ${limit.default} | \`${limit.env.replace('GATEHOUSE_LIMIT_', '…')}\` |`,
  );
  return ['| Counted | Default | `GATEHOUSE_LIMIT_…` |', '| --- | --- | --- |', ...rows].join('\n');
}
