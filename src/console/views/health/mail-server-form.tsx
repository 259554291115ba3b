/** Form for the instance's mail server, which is tested before it is kept. */
import { api, ask, type Schemas } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { useConsole } from '../../console-context.tsx';

type MailServer = Schemas['MailServer'];
type Tls = Schemas['MailServerSettings']['tls'];

interface MailServerFormProps {
  readonly set: MailServer;
  readonly onDone: (server: MailServer) => unknown;
}

const PORTS: Readonly<Record<Tls, string>> = { starttls: '587', implicit: '465', optional: '25' };

export function MailServerForm({ set: { settings, from }, onDone }: MailServerFormProps) {
  const { workspace, me } = useConsole();
  const form = useForm({
    host: settings?.host ?? '',
    tls: settings?.tls ?? ('starttls' as Tls),
    port: settings ? String(settings.port) : '',
    username: settings?.username ?? '',
    password: '',
    from: from ?? '',
  });
  const { host, tls, port, username, password, from: sender } = form.values;
  const body = {
    host: host.trim(),
    port: Number(port.trim() || PORTS[tls]),
    tls,
    username: username.trim() || null,
    password: password || null,
    from: sender.trim(),
  };
  const params = { query: { workspaceId: workspace.id } };
  return (
    <FormDialog
      id="mail-server"
      title="Mail server"
      lead={`It is kept once it accepts a test mail to ${me.email}.`}
      submitText="Test and save"
      isIncomplete={body.host === '' || body.from === ''}
      form={form}
      fields={[
        { kind: 'url', id: 'mail-server-host', name: 'host', label: 'Host', placeholder: 'smtp.example.com' },
        {
          kind: 'choice',
          id: 'mail-server-tls',
          name: 'tls',
          label: 'Encryption',
          choices: [
            { value: 'starttls', label: 'STARTTLS', detail: 'Required; usually port 587' },
            { value: 'implicit', label: 'TLS from the start', detail: 'Usually port 465' },
            { value: 'optional', label: 'Only if offered', detail: 'Codes and the password may travel in plain text' },
          ],
        },
        { kind: 'text', id: 'mail-server-port', name: 'port', label: 'Port', maxLength: 5, placeholder: PORTS[tls] },
        {
          kind: 'identifier',
          id: 'mail-server-username',
          name: 'username',
          label: 'User name',
          hint: 'Leave it empty for a server without a login.',
        },
        {
          kind: 'password',
          id: 'mail-server-password',
          name: 'password',
          label: 'Password',
          hint: settings?.username
            ? 'Enter it again: the one that is set is never shown.'
            : 'Stored encrypted, and never shown again.',
        },
        {
          kind: 'text',
          id: 'mail-server-from',
          name: 'from',
          label: 'Sender',
          placeholder: 'Acme <no-reply@acme.example>',
          hint: 'An address that the server may send from. Mails of an application have its name.',
        },
      ]}
      send={() => ask(api.PUT('/api/workspace/mail/server', { params, body }))}
      onDone={onDone}
    />
  );
}

/** Asks before the mail server is removed. */
export function RemoveMailServer({ onDone }: { readonly onDone: () => unknown }) {
  const { workspace } = useConsole();
  const params = { query: { workspaceId: workspace.id } };
  return (
    <FormDialog
      id="remove-mail-server"
      title="Remove the mail server?"
      lead="Mails, codes among them, stay in the outbox then and reach nobody."
      submitText="Remove mail server"
      isDanger
      send={() => ask(api.DELETE('/api/workspace/mail/server', { params }))}
      onDone={onDone}
    />
  );
}
