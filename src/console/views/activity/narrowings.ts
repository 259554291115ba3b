/** Filters that a record offers: by its actor, its person, its object and its request. */
import { type AuthEvent } from './kinds.ts';
import { shownEvent } from './shown-event.ts';
import { whoInWords } from './sentences.ts';

export const ID_FILTERS = ['actorUserId', 'actorApiKeyId', 'userId', 'targetId', 'requestId'] as const;
export type IdFilter = (typeof ID_FILTERS)[number];

export interface Narrowing {
  readonly filter: IdFilter;
  readonly value: string;
  /** "Only by Ada Lovelace". */
  readonly label: string;
}

/** Objects that several records are about; others, such as a session, are left to the detail's ids. */
const NAMED_TARGET = /^(?:key|rol|scp|mgr|whk|app|dlv|bet|wsm)_/;

export function narrowingsOf(event: AuthEvent): readonly Narrowing[] {
  const { actorType, actorUserId, actorApiKeyId, userId, userName, email, targetId, targetName, requestId } =
    shownEvent(event);
  const by = whoInWords(event);
  const found: (Narrowing | false)[] = [
    actorApiKeyId !== null && {
      filter: 'actorApiKeyId',
      value: actorApiKeyId,
      label: actorType === 'key' ? `Only by ${by}` : 'Only with this device',
    },
    actorType === 'user' &&
      actorUserId !== null && { filter: 'actorUserId', value: actorUserId, label: `Only by ${by}` },
    userId !== null && { filter: 'userId', value: userId, label: `Only about ${userName ?? email ?? 'this user'}` },
    targetId !== null &&
      NAMED_TARGET.test(targetId) && {
        filter: 'targetId',
        value: targetId,
        label: `Only about ${targetName ?? 'this object'}`,
      },
    requestId !== null && { filter: 'requestId', value: requestId, label: 'Only this request' },
  ];
  return found.filter((narrowing) => narrowing !== false);
}

/** Returns the label of a filter that is set, named by a record that matches it. */
export function labelOf(filter: IdFilter, value: string, events: readonly AuthEvent[]): string {
  for (const event of events) {
    const known = narrowingsOf(event).find((one) => one.filter === filter && one.value === value);
    if (known) return known.label;
  }
  return filter === 'requestId' ? 'Only this request' : `Only ${value}`;
}

const WHOLE_ID = /^([a-z]{2,8})_[0-9A-Za-z]{10,64}$/;

/** Returns the filter that a whole id, typed into the search, stands for; null for other text. */
export function filterOfId(text: string): IdFilter | null {
  const prefix = WHOLE_ID.exec(text)?.[1];
  if (prefix === undefined) return null;
  if (prefix === 'usr') return 'userId';
  if (prefix === 'key') return 'actorApiKeyId';
  return prefix === 'req' ? 'requestId' : 'targetId';
}
