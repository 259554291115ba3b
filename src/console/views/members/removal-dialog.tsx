/** Confirms removing a member and decides on their keys. */
import { useState } from 'preact/hooks';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { DangerDialog } from '../../components/danger-dialog.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Time } from '../../components/time.tsx';
import { useLoaded } from '../../data.ts';
import { useWorld } from '../../rights.tsx';

interface RemovalDialogProps {
  readonly member: Schemas['Member'];
  readonly isMe: boolean;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Maximum page size. */
const LIMIT = 200;

export function RemovalDialog({ member, isMe, onDone, onClose }: RemovalDialogProps) {
  const { workspace } = useWorld();
  const [isRevoking, setIsRevoking] = useState(false);
  const path = { memberId: member.id };
  const query = { workspaceId: workspace.id };
  const made = useLoaded(
    () =>
      ask(api.GET('/api/workspace/members/{memberId}/keys', { params: { path, query: { ...query, limit: LIMIT } } })),
    [member.id],
  );
  const keys = made.data?.items ?? [];

  /** Revokes keys first: members who leave cannot do it afterwards. A retry resumes where it stopped. */
  async function remove(): Promise<Outcome<unknown>> {
    for (const key of isRevoking ? keys : []) {
      const outcome = await revoke(key, workspace.id);
      if (!outcome.ok) return outcome;
    }
    return ask(api.DELETE('/api/workspace/members/{memberId}', { params: { path, query } }));
  }

  return (
    <DangerDialog
      id="remove-dialog"
      title={isMe ? `Leave ${workspace.name}?` : `Remove ${member.email}?`}
      lead={
        <>
          {isMe ? 'You lose' : 'They lose'} {workspace.name} at once, with its drafts, and its betas unless their lists
          have {isMe ? 'you' : 'them'}. Without another workspace {isMe ? 'you are' : 'they are'} signed out of the
          console, too. An invitation brings {isMe ? 'you' : 'them'} back.
        </>
      }
      confirmText={isMe ? 'Leave' : 'Remove member'}
      send={remove}
      onDone={onDone}
      onClose={onClose}
    >
      {made.failure && <FailureNote failure={made.failure} onRetry={made.reload} />}
      {keys.length > 0 && (
        <div id="member-keys">
          <p>{isMe ? 'You' : 'They'} know these keys, which go on working:</p>
          <ul>
            {keys.map((key) => (
              <li key={key.id}>
                <span dir="auto">{key.name}</span>, {key.access === 'full' ? 'Full' : 'Read'},{' '}
                <Reach applicationId={key.applicationId} />, last used <Time at={key.lastUsedAt} none="never" />
              </li>
            ))}
          </ul>
          <Checkbox
            id="revoke-member-keys"
            label="Revoke these keys as well. What uses them is refused at once."
            isChecked={isRevoking}
            onChange={setIsRevoking}
          />
        </div>
      )}
    </DangerDialog>
  );
}

function revoke({ id: keyId, applicationId }: Schemas['MemberKey'], workspaceId: string): Promise<Outcome<unknown>> {
  if (applicationId === null)
    return ask(api.DELETE('/api/workspace/api-keys/{keyId}', { params: { path: { keyId }, query: { workspaceId } } }));
  return ask(api.DELETE('/api/applications/{id}/api-keys/{keyId}', { params: { path: { id: applicationId, keyId } } }));
}

function Reach({ applicationId }: { readonly applicationId: string | null }) {
  const { applications } = useWorld();
  if (applicationId === null) return <>the workspace</>;
  return <span dir="auto">{applications.find(({ id }) => id === applicationId)?.name ?? applicationId}</span>;
}
