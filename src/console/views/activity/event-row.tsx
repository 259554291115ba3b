/** A record as a sentence: who did what to what, and its result in words. */
import { Time } from '../../components/time.tsx';
import { Result } from './event-parts.tsx';
import type { AuthEvent } from './kinds.ts';
import { sentenceInWords, sentenceOf, whoOf } from './sentences.ts';

export function Who({ of: event }: { readonly of: AuthEvent }) {
  const { title, name, note } = whoOf(event);
  return (
    <span class="event-who">
      {title !== null && <span class="muted">{title} </span>}
      <bdi>{name}</bdi>
      {note !== null && <span class="muted event-note"> {note}</span>}
    </span>
  );
}

export function What({ of: event }: { readonly of: AuthEvent }) {
  return (
    <span class="event-what">
      <span>{sentenceOf(event).map(({ text, isName }) => (isName ? <bdi class="event-name">{text}</bdi> : text))}</span>
      {!event.ok && <Result of={event} isWithReason />}
    </span>
  );
}

/** Content of a row's link: its name is the sentence, also where a column shows only the actor. */
export function WhoOfLink({ of: event }: { readonly of: AuthEvent }) {
  return (
    <>
      <Who of={event} />
      <span class="visually-hidden">: {sentenceInWords(event)}</span>
    </>
  );
}

interface NarrowEventProps {
  readonly of: AuthEvent;
  /** Name of the application, in the list of a workspace. */
  readonly application: string | null;
}

/** Two lines, for phones. */
export function NarrowEvent({ of: event, application }: NarrowEventProps) {
  return (
    <span class="event-lines">
      <span class="event-line">
        <Who of={event} />
        <span class="muted">
          <Time at={event.createdAt} />
        </span>
      </span>
      <span class="event-line">
        <What of={event} />
        {application !== null && <bdi class="muted">{application}</bdi>}
      </span>
    </span>
  );
}
