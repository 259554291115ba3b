/** Parts of a record shared by lists and details. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { Status } from '../../components/status.tsx';
import { type AuthEvent, reasonOf } from './kinds.ts';
import { shownEvent } from './shown-event.ts';

interface ResultProps {
  readonly of: AuthEvent;
  readonly isWithReason?: boolean;
}

export function Result({ of: event, isWithReason = false }: ResultProps) {
  if (event.ok) return <Status tone="good">OK</Status>;
  const word = event.kind.startsWith('signin.') ? 'Refused' : 'Failed';
  const reason = reasonOf(event);
  return (
    <span title={reason ?? undefined}>
      <Status tone="bad">{isWithReason && reason !== null ? `${word}: ${reason}` : word}</Status>
    </span>
  );
}

/** Subject of a record, linked to their page if there is one. */
export function Person({ of: event }: { readonly of: AuthEvent }) {
  const { userId, userName, email, applicationId } = shownEvent(event);
  const name = email ?? userName ?? userId;
  if (name === null) return <span class="muted">–</span>;
  if (userId === null || applicationId === null) return <>{name}</>;
  return <Link href={addresses.application(applicationId, 'users', userId)}>{name}</Link>;
}
