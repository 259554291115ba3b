/** Confirms removing a member and decides on their keys. */
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { FailureNote } from '../../components/failure-note.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Time } from '../../components/time.tsx';
import { useForm } from '../../components/use-form.ts';
import { useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';

interface RemovalDialogProps {
  readonly member: Schemas['Member'];
  readonly isMe: boolean;
  readonly onDone: () => unknown;
}

/** Maximum page size. */
const LIMIT = 200;

export function RemovalDialog({ member, isMe, onDone }: RemovalDialogProps) {
  const { workspace } = useConsole();
  const form = useForm({ isRevoking: false });
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
    for (const key of form.values.isRevoking ? keys : []) {
      const outcome = await revoke(key, workspace.id);
      if (!outcome.ok) return outcome;
    }
    return ask(api.DELETE('/api/workspace/members/{memberId}', { params: { path, query } }));
  }

  return (
    <FormDialog
      id="remove-dialog"
      title={isMe ? `Leave ${workspace.name}?` : `Remove ${member.email}?`}
      lead={
        <>
          {isMe ? 'You lose' : 'They lose'} {workspace.name} at once, with its drafts, and its betas unless their lists
          have {isMe ? 'you' : 'them'}. Without another workspace {isMe ? 'you are' : 'they are'} signed out of the
          console, too. An invitation brings {isMe ? 'you' : 'them'} back.
        </>
      }
      submitText={isMe ? 'Leave' : 'Remove member'}
      isDanger
      form={form}
      fields={[
        made.failure !== null && <FailureNote failure={made.failure} onRetry={made.reload} />,
        keys.length > 0 && <KnownKeys keys={keys} isMe={isMe} />,
        keys.length > 0 && {
          kind: 'checkbox',
          id: 'revoke-member-keys',
          name: 'isRevoking',
          label: 'Revoke these keys as well. Anything that uses them is refused at once.',
        },
      ]}
      send={remove}
      onDone={onDone}
    />
  );
}

interface KnownKeysProps {
  readonly keys: readonly Schemas['MemberKey'][];
  readonly isMe: boolean;
}

function KnownKeys({ keys, isMe }: KnownKeysProps) {
  return (
    <div id="member-keys">
      <p>{isMe ? 'You' : 'They'} know these keys, which keep working:</p>
      <ul>
        {keys.map((key) => (
          <li key={key.id}>
            <span dir="auto">{key.name}</span>, {key.access === 'full' ? 'Full' : 'Read'},{' '}
            <Reach applicationId={key.applicationId} />, last used <Time at={key.lastUsedAt} none="never" />
          </li>
        ))}
      </ul>
    </div>
  );
}

function revoke({ id: keyId, applicationId }: Schemas['MemberKey'], workspaceId: string): Promise<Outcome<unknown>> {
  if (applicationId === null)
    return ask(api.DELETE('/api/workspace/api-keys/{keyId}', { params: { path: { keyId }, query: { workspaceId } } }));
  return ask(api.DELETE('/api/applications/{id}/api-keys/{keyId}', { params: { path: { id: applicationId, keyId } } }));
}

function Reach({ applicationId }: { readonly applicationId: string | null }) {
  const { applications } = useConsole();
  if (applicationId === null) return <>the workspace</>;
  return <span dir="auto">{applications.find(({ id }) => id === applicationId)?.name ?? applicationId}</span>;
}
