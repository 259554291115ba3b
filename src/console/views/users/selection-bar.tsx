/** Actions for the selected users and their result; hidden without a selection. */
import { useToast } from '../../../pages/components/toast.tsx';
import { Action } from '../../components/action.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { counted } from '../../components/format.ts';
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
  const outcome = useDialog<Outcome>(({ results, done, emails }) => (
    <OutcomeDialog results={results} done={done} emailOf={(userId) => emails.get(userId) ?? userId} />
  ));
  const grants = useDialog(
    () =>
      access !== null && (
        <GrantsDialog
          applicationId={applicationId}
          userIds={users.map(({ userId }) => userId)}
          access={access}
          onDone={(results) => finish(results, 'changed')}
        />
      ),
  );
  const change = useDialog<UserAction>((action) => (
    <ActionDialog
      applicationId={applicationId}
      action={action}
      users={users}
      onDone={(results) => finish(results, ACTIONS[action].done)}
    />
  ));

  async function finish(results: readonly UserResult[], done: string): Promise<void> {
    if (leftOut(results).length === 0) {
      toast(summaryOf(results, done));
      onClear();
    } else {
      outcome.open({ results, done, emails: new Map(users.map(({ userId, email }) => [userId, email])) });
    }
    await onChanged();
  }

  return (
    <>
      {users.length > 0 && (
        <div class="selection" id="selection" role="toolbar" aria-label="Actions for the chosen users">
          <span role="status">{counted(users.length, 'person', 'people')} chosen</span>
          {actionsFor(users).map((action) => (
            <Action key={action} id={`${action}-users`} onClick={() => change.open(action)}>
              {ACTIONS[action].verb}
            </Action>
          ))}
          <Action id="grants-users" isDisabled={access === null} onClick={grants.open}>
            Change access
          </Action>
          <button class="link" type="button" onClick={onClear}>
            Choose none
          </button>
        </div>
      )}
      {grants.dialog}
      {change.dialog}
      {outcome.dialog}
    </>
  );
}
