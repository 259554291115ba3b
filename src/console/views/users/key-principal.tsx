/** The detail of a user that is the principal of an API key, not a person. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { Time } from '../../components/time.tsx';
import { useConsole } from '../../console-context.tsx';
import { Status } from '../../components/status.tsx';
import { STATUSES, type UserStatus } from './statuses.ts';

type User = Schemas['UserDetail'];

/** Returns the name of a user: the address of a person, the key's name for a principal, whose address is a placeholder. */
export function titleOf({ kind, email, apiKey }: User): string {
  return kind === 'api_key' ? (apiKey?.name ?? 'API key') : email;
}

export function KeyPrincipal({ user }: { readonly user: User }) {
  const { workspace } = useConsole();
  const { apiKey, lastSeenAt, joinedAt } = user;
  const keyAddress =
    apiKey &&
    (apiKey.applicationId === null
      ? addresses.workspace(workspace.id, 'keys', apiKey.id)
      : addresses.application(apiKey.applicationId, 'keys', apiKey.id));
  return (
    <Facts
      of={[
        [
          'Represents',
          keyAddress ? (
            <Link id="principal-key" href={keyAddress}>
              The API key {apiKey.name}
            </Link>
          ) : (
            'An API key'
          ),
        ],
        ['Status', <PrincipalStatus of={user} />],
        ['Last seen', <Time at={lastSeenAt} none="Not yet" />],
        ['Created', <Time at={joinedAt} />],
      ]}
    />
  );
}

/** A key calls; it never signs in. */
const MEANINGS: Partial<Record<UserStatus, string>> = {
  active: 'Calls with the key are accepted while the key is valid.',
  paused: 'Calls with the key are refused until resumed.',
  deleted: 'Calls with the key are refused until restored.',
};

function PrincipalStatus({ of: { status, statusReason } }: { readonly of: User }) {
  const { word, tone } = STATUSES[status];
  return (
    <>
      <Status tone={tone}>{word}</Status>
      <span class="fine block">
        {MEANINGS[status] ?? 'Calls with the key are refused.'}
        {statusReason && (
          <>
            {' '}
            Reason: <span dir="auto">{statusReason}</span>
          </>
        )}
      </span>
    </>
  );
}
