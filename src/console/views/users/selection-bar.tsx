/** Actions for the selected users and their result; hidden without a selection. */
import { useState } from 'preact/hooks';
import { useToast } from '../../../pages/components/toast.tsx';
import { Action } from '../../components/action.tsx';
import { counted } from '../../components/words.ts';
import type { Access } from '../grants/access.ts';
import { ActionDialog } from './action-dialog.tsx';
import { leftOut, summaryOf, type UserResult } from './changes.ts';
import { GrantsDialog } from './grants-dialog.tsx';
import { OutcomeDialog } from './outcome-dialog.tsx';
import { ACTIONS, actionsFor, type User, type UserAction } from './statuses.ts';

interface SelectionBarProps {
  readonly applicationId: string;
  readonly users: readonly User[];
  readonly access: Access | null;
  readonly onClear: () => void;
  readonly onChanged: () => Promise<void>;
}

interface Outcome {
  readonly results: readonly UserResult[];
  readonly done: string;
  readonly emails: ReadonlyMap<string, string>;
}

export function SelectionBar({ applicationId, users, access, onClear, onChanged }: SelectionBarProps) {
  const toast = useToast();
  const [asked, setAsked] = useState<UserAction | 'grants' | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);

  async function finish(results: readonly UserResult[], done: string): Promise<void> {
    setAsked(null);
    if (leftOut(results).length === 0) {
      toast(summaryOf(results, done));
      onClear();
    } else {
      setOutcome({ results, done, emails: new Map(users.map(({ userId, email }) => [userId, email])) });
    }
    await onChanged();
  }

  return (
    <>
      {users.length > 0 && (
        <div class="selection" id="selection" role="toolbar" aria-label="What to do with the users that are chosen">
          <span role="status">{counted(users.length, 'person', 'people')} chosen</span>
          {actionsFor(users).map((action) => (
            <Action key={action} id={`${action}-users`} onClick={() => setAsked(action)}>
              {ACTIONS[action].verb}
            </Action>
          ))}
          <Action id="grants-users" isDisabled={access === null} onClick={() => setAsked('grants')}>
            Change access
          </Action>
          <button class="link" type="button" onClick={onClear}>
            Choose none
          </button>
        </div>
      )}
      {asked === 'grants' && access !== null && (
        <GrantsDialog
          applicationId={applicationId}
          userIds={users.map(({ userId }) => userId)}
          access={access}
          onDone={(results, done) => void finish(results, done)}
          onClose={() => setAsked(null)}
        />
      )}
      {asked !== null && asked !== 'grants' && (
        <ActionDialog
          applicationId={applicationId}
          action={asked}
          users={users}
          onDone={(results) => void finish(results, ACTIONS[asked].done)}
          onClose={() => setAsked(null)}
        />
      )}
      {outcome && (
        <OutcomeDialog
          results={outcome.results}
          done={outcome.done}
          emailOf={(userId) => outcome.emails.get(userId) ?? userId}
          onClose={() => setOutcome(null)}
        />
      )}
    </>
  );
}
