/** Dialogs for rotating a key, at once or with a grace period, and for revoking it. */
import type { Choice } from '../../components/choices.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { relativeTime } from '../../components/format.ts';
import type { Key, KeyCalls, NewKey } from './key-calls.ts';

interface EndingProps<Done> {
  readonly of: Key;
  readonly calls: KeyCalls;
  readonly onDone: (key: Done) => unknown;
}

const usedWords = ({ lastUsedAt }: Key) =>
  lastUsedAt === null ? 'It has never been used.' : `It was last used ${relativeTime(lastUsedAt)}.`;

type Timing = 'grace' | 'at-once';

const TIMINGS: readonly Choice<Timing>[] = [
  {
    value: 'grace',
    label: 'Works for another 24 hours',
    detail:
      'The new token is a key of its own next to this one. Change over without a gap; both share the limits meanwhile.',
  },
  {
    value: 'at-once',
    label: 'Stops working at once',
    detail: 'For a token that has leaked. Anything that still sends it is refused until it has the new one.',
  },
];

export function KeyRotation({ of: key, calls, onDone }: EndingProps<NewKey>) {
  const form = useForm({ timing: 'grace' as Timing });
  const hasGrace = form.values.timing === 'grace';
  const isOfEnvironment = key.source === 'environment';
  return (
    <FormDialog
      id="key-rotation"
      title={`Rotate ${key.name}`}
      lead={`A new token replaces the current one, with the same rights and limits. ${usedWords(key)}`}
      submitText={hasGrace ? 'Rotate with grace' : 'Rotate at once'}
      isDanger={!hasGrace}
      form={form}
      fields={[
        {
          kind: 'choice',
          id: 'key-rotation-timing',
          name: 'timing',
          label: 'The current token',
          choices: isOfEnvironment ? TIMINGS.slice(0, 1) : TIMINGS,
        },
        isOfEnvironment && (
          <p class="hint">
            At once it can only be replaced where it comes from: set another key in GATEHOUSE_WORKSPACE_KEY, restart the
            server, then revoke this one.
          </p>
        ),
      ]}
      send={() => calls.rotate(key.id, hasGrace)}
      onDone={onDone}
    />
  );
}

export function KeyRevocation({ of: key, calls, onDone }: EndingProps<Key>) {
  return (
    <FormDialog
      id="key-revocation"
      title={`Revoke ${key.name}?`}
      lead={`${revocationWords(key)} ${usedWords(key)} This cannot be undone.`}
      submitText="Revoke key"
      isDanger
      nameToType={key.name}
      send={() => calls.revoke(key.id)}
      onDone={onDone}
    />
  );
}

function revocationWords({ source, rotatedToId, applicationId }: Key): string {
  if (source === 'device') return 'The person’s device is refused from its next call on. They can connect it again.';
  if (rotatedToId !== null)
    return 'Anything that still sends this token is refused from its next call on. The key that replaces it keeps working.';
  const place = applicationId === null ? 'the workspace' : 'this application';
  return `Anything that uses it is refused from its next call on: it can verify no sessions and reach nothing in ${place}. A predecessor still in its grace period ends with it.`;
}
