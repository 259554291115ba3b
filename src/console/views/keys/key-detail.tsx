/** Detail of a key: access, usage, rotation and revocation. */
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { AbsentDetail } from '../../components/absent-detail.tsx';
import { Action } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { Facts } from '../../components/facts.tsx';
import { Detail, DetailPart } from '../../components/list-detail.tsx';
import { Slugs } from '../../components/slugs.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { dayOf, exactTime } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { useEvery } from '../../refresh.ts';
import { useConsole } from '../../console-context.tsx';
import type { Key, KeyCalls } from './key-calls.ts';
import { ACCESS_WORDS, isLive, sourceWords, KEY_STATE_WORDS, stateOf } from './key-state.ts';
import { KeyUsage } from './key-usage.tsx';
import { Usage } from './usage.tsx';

export type KeyAction = 'change' | 'rotate' | 'revoke';

interface KeyDetailProps {
  readonly id: string;
  readonly calls: KeyCalls;
  /** Keys in the list, possibly with this key's predecessor. */
  readonly known: readonly Key[];
  /** Changes after each action, to reload the key. */
  readonly revision: number;
  readonly hrefOf: (id: string) => string;
  readonly closeTo: string;
  readonly onAct: (act: KeyAction, key: Key) => void;
}

const REFRESH_MS = 10_000;

export function KeyDetail({ id, calls, known, revision, hrefOf, closeTo, onAct }: KeyDetailProps) {
  const loaded = useLoaded(() => calls.get(id), [id]);
  const [, render] = useState(0);
  const key = loaded.data ?? known.find((one) => one.id === id);
  const state = key && stateOf(key);
  useEvery(state && isLive(state) ? REFRESH_MS : null, loaded.reload);
  useEffect(() => {
    if (revision > 0) void loaded.reload();
  }, [revision]);

  if (!key || !state)
    return (
      <AbsentDetail
        title="Key"
        closeTo={closeTo}
        failure={loaded.failure}
        onRetry={loaded.reload}
        missing="There is no such key here. It may belong to another application."
      />
    );

  const { word, tone } = KEY_STATE_WORDS[state];
  const predecessor = known.find(({ rotatedToId }) => rotatedToId === id);
  const isPersonal = key.source === 'device';
  return (
    <Detail
      title={<span dir="auto">{key.name}</span>}
      subtitle={<code>{key.prefix}…</code>}
      closeTo={closeTo}
      actions={
        state !== 'revoked' && (
          <>
            <Action id="change-key" onClick={() => onAct('change', key)}>
              Edit key
            </Action>
            {state === 'active' && !isPersonal && (
              <Action id="rotate-key" onClick={() => onAct('rotate', key)}>
                Rotate
              </Action>
            )}
            <Action id="revoke-key" look="danger" onClick={() => onAct('revoke', key)}>
              Revoke
            </Action>
          </>
        )
      }
    >
      <Facts
        of={[
          ['Status', <Status tone={tone}>{word}</Status>],
          ['Access', <AccessWords of={key} />],
          key.applicationId === null && !isPersonal && ['Reaches', <Reach of={key} />],
          ['Expires', <Expiry at={key.expiresAt} />],
          key.revokedAt !== null && ['Revoked', <Time at={key.revokedAt} />],
          ['Last used', <Time at={key.lastUsedAt} />],
          ['Created', <Time at={key.createdAt} />],
          ['Source', sourceWords(key.source)],
          !isPersonal &&
            key.createdBy !== null && ['Created by', <Creator of={key.createdBy} hrefOf={hrefOf} known={known} />],
          [isPersonal ? 'Person' : 'Acts as', <Principal of={key} />],
        ]}
      />
      {key.source === 'environment' && <Bootstrap />}
      {key.rotatedToId !== null && (
        <DetailPart title="Rotated">
          <p class="grace" id="key-grace">
            {state === 'grace' && key.gracePeriodEndsAt ? (
              <>
                <span>
                  Works for another{' '}
                  <strong>
                    <Countdown to={key.gracePeriodEndsAt} onEnd={() => render((now) => now + 1)} />
                  </strong>
                  , until {exactTime(key.gracePeriodEndsAt)}.
                </span>{' '}
                Switch everything that uses it to <Link href={hrefOf(key.rotatedToId)}>the key that replaces it</Link>.
              </>
            ) : (
              <>
                It no longer works. It was replaced by <Link href={hrefOf(key.rotatedToId)}>another key</Link>.
              </>
            )}
          </p>
        </DetailPart>
      )}
      {predecessor && (
        <DetailPart title="Rotated">
          <p class="grace">
            Replaces <Link href={hrefOf(predecessor.id)}>the key before it</Link>
            {stateOf(predecessor) === 'grace' && predecessor.gracePeriodEndsAt ? (
              <>
                , which works for another <Countdown to={predecessor.gracePeriodEndsAt} />.
              </>
            ) : (
              ', which no longer works.'
            )}
          </p>
        </DetailPart>
      )}
      {!isPersonal && <KeyUsage id={id} calls={calls} />}
      <DetailPart title="Limits">
        <Facts
          of={[
            [
              'This minute',
              <Usage label="Calls this minute" used={key.usage.minute} limit={key.rateLimits.perMinute} />,
            ],
            ['Today (UTC)', <Usage label="Calls today" used={key.usage.day} limit={key.rateLimits.perDay} />],
          ]}
        />
      </DetailPart>
      {key.roles.length + key.scopes.length + key.memberships.length > 0 && (
        <DetailPart title="Roles, scopes and groups">
          <Facts
            of={[
              key.roles.length > 0 && ['Roles', <Slugs of={key.roles} />],
              key.scopes.length > 0 && ['Scopes', <Slugs of={key.scopes} />],
              key.memberships.length > 0 && ['Groups', <Slugs of={key.memberships} />],
            ]}
          />
        </DetailPart>
      )}
    </Detail>
  );
}

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return <>Never</>;
  return (
    <>
      {dayOf(at)}, <Time at={at} />
    </>
  );
}

function AccessWords({ of: { access, applicationId } }: { readonly of: Key }) {
  return (
    <>
      {access === 'full' ? 'Full' : 'Read'}
      <span class="fine explained">{ACCESS_WORDS[applicationId === null ? 'workspace' : 'application'][access]}</span>
    </>
  );
}

function Reach({ of: { applicationIds } }: { readonly of: Key }) {
  const { applications } = useConsole();
  if (applicationIds === null) return <>The whole workspace</>;
  return (
    <ul class="tags">
      {applicationIds.map((id) => (
        <li key={id}>
          <Link href={addresses.application(id)}>{applications.find((one) => one.id === id)?.name ?? id}</Link>
        </li>
      ))}
    </ul>
  );
}

/** Creator of the key. A key of another list is shown without a link. */
function Creator({
  of: { userId, email, key },
  hrefOf,
  known,
}: Pick<KeyDetailProps, 'hrefOf' | 'known'> & { readonly of: NonNullable<Key['createdBy']> }) {
  if (key !== null) {
    const name = <span dir="auto">{key.name}</span>;
    return <>the key {known.some(({ id }) => id === key.id) ? <Link href={hrefOf(key.id)}>{name}</Link> : name}</>;
  }
  if (email !== null) return <>{email}</>;
  return (
    <>
      Somebody who is no longer a member <Copyable value={userId} label="user id" />
    </>
  );
}

function Principal({ of: { source, applicationId, userId } }: { readonly of: Key }) {
  if (source === 'device' && applicationId !== null)
    return <Link href={addresses.application(applicationId, 'users', userId)}>Show the person</Link>;
  return <Copyable value={userId} label="user ID it acts as" />;
}

function Bootstrap() {
  return (
    <p class="note">
      This is the bootstrap key: the server takes it from <code>GATEHOUSE_WORKSPACE_KEY</code> when it starts, so that a
      machine can set everything up before anybody has signed in. It can do everything in this workspace. Once you have
      separate keys for each purpose, revoke it: it stays revoked, even after a restart.
    </p>
  );
}
