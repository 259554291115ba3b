/** Dialogs for rotating a key, at once or with a grace period, and for revoking it. */
import { useState } from 'preact/hooks';
import { ChooseOne } from '../../components/choices.tsx';
import { DangerDialog } from '../../components/danger-dialog.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { relativeTime } from '../../components/words.ts';
import type { Key, KeyCalls, NewKey } from './key-calls.ts';

interface EndingProps<Done> {
  readonly of: Key;
  readonly calls: KeyCalls;
  readonly onDone: (key: Done) => void;
  readonly onClose: () => void;
}

const usedWords = ({ lastUsedAt }: Key) =>
  lastUsedAt === null ? 'It has never been used.' : `It was last used ${relativeTime(lastUsedAt)}.`;

export function KeyRotation({ of: key, calls, onDone, onClose }: EndingProps<NewKey>) {
  const [way, setWay] = useState<'grace' | 'at-once'>('grace');
  const hasGrace = way === 'grace';
  const isOfEnvironment = key.source === 'environment';
  return (
    <FormDialog
      id="key-rotation"
      title={`Rotate ${key.name}`}
      lead={`A new token takes the place of the present one, with the same rights and limits. ${usedWords(key)}`}
      submitText={hasGrace ? 'Rotate with grace' : 'Rotate at once'}
      isDanger={!hasGrace}
      send={() => calls.rotate(key.id, hasGrace)}
      onDone={onDone}
      onClose={onClose}
    >
      {() => (
        <>
          <ChooseOne
            id="key-rotation-way"
            label="The present token"
            chosen={way}
            choices={[
              {
                value: 'grace',
                label: 'Works for 24 hours more',
                detail:
                  'The new token is a key of its own beside this one. Change over without a gap; the limits are shared meanwhile.',
              },
              ...(isOfEnvironment
                ? []
                : [
                    {
                      value: 'at-once' as const,
                      label: 'Stops working at once',
                      detail:
                        'For a token that has leaked. Whatever still sends it is refused until it has the new one.',
                    },
                  ]),
            ]}
            onChange={setWay}
          />
          {isOfEnvironment && (
            <p class="hint">
              At once it can only be replaced where it comes from: set another key in GATEHOUSE_WORKSPACE_KEY, start the
              server again, then revoke this one.
            </p>
          )}
        </>
      )}
    </FormDialog>
  );
}

export function KeyRevocation({ of: key, calls, onDone, onClose }: EndingProps<Key>) {
  return (
    <DangerDialog
      id="key-revocation"
      title={`Revoke ${key.name}?`}
      lead={`${revocationWords(key)} ${usedWords(key)} This cannot be undone.`}
      confirmText="Revoke key"
      nameToType={key.name}
      send={() => calls.revoke(key.id)}
      onDone={onDone}
      onClose={onClose}
    />
  );
}

function revocationWords({ source, rotatedToId, applicationId }: Key): string {
  if (source === 'device')
    return 'The device of that person is refused from its next call on. They can connect it again.';
  if (rotatedToId !== null)
    return 'Whatever still sends this token is refused from its next call on. The key that replaces it goes on working.';
  const place = applicationId === null ? 'the workspace' : 'this application';
  return `Whatever uses it is refused from its next call on: it can verify no session and reach nothing of ${place}. A predecessor that is still in its grace ends with it.`;
}
