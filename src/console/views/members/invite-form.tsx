import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { type Role, roleChoices } from './roles.ts';

export function InviteForm({ onDone }: { readonly onDone: (member: Schemas['Member']) => unknown }) {
  const { workspace } = useConsole();
  const { isOwner } = useRights();
  const form = useForm({ email: '', role: 'admin' as Role });
  const { role } = form.values;
  const email = form.values.email.trim();
  const params = { query: { workspaceId: workspace.id } };
  return (
    <FormDialog
      id="invite-form"
      title={`Invite to ${workspace.name}`}
      lead="They get a mail with a link, and sign in with a code sent to this address."
      submitText="Invite"
      isIncomplete={email === ''}
      form={form}
      fields={[
        { kind: 'email', id: 'invite-email', name: 'email', label: 'E-mail' },
        { kind: 'choice', id: 'invite-role', name: 'role', label: 'Role', choices: roleChoices(isOwner) },
      ]}
      send={() => ask(api.POST('/api/workspace/members', { params, body: { email, role } }))}
      onDone={onDone}
    />
  );
}
