/** Dialogs for editing, disabling or deleting an endpoint and rotating its secret. */
import { FormDialog } from '../../components/form-dialog.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import type { NewWebhook, Webhook, WebhookCalls } from './webhook-calls.ts';

export type EndpointAction = 'change' | 'rotate' | 'disable' | 'delete';

interface EndpointDialogProps {
  readonly act: EndpointAction;
  readonly webhook: Webhook;
  readonly calls: WebhookCalls;
  readonly onChanged: (webhook: Webhook, message: string) => unknown;
  readonly onRotated: (webhook: NewWebhook) => unknown;
  readonly onDeleted: () => unknown;
}

export function EndpointDialog(props: EndpointDialogProps) {
  const { act, webhook, calls, onChanged, onRotated, onDeleted } = props;
  const { id, url } = webhook;
  switch (act) {
    case 'change':
      return (
        <EndpointForm
          of={webhook}
          send={(input) => calls.update(id, input)}
          onDone={(changed) => onChanged(changed, 'Saved.')}
        />
      );
    case 'rotate':
      return (
        <FormDialog
          id="secret-rotation"
          title="Rotate the signing secret"
          lead={
            webhook.previousSecretEndsAt === null
              ? 'A new secret is created. For 24 hours every delivery is signed with both, so that your endpoint can switch without a gap; then the current one expires.'
              : 'A new secret is created, and the current one signs as well for 24 hours. The previous one, which still signs now, expires at once.'
          }
          submitText="Rotate secret"
          send={() => calls.rotateSecret(id)}
          onDone={onRotated}
        />
      );
    case 'disable':
      return (
        <FormDialog
          isDanger
          id="webhook-disabling"
          title="Disable this webhook?"
          lead="Events that happen while it is disabled are never sent to it. Pending deliveries are sent when it is enabled again."
          submitText="Disable webhook"
          send={() => calls.update(id, { status: 'disabled' })}
          onDone={(changed) => onChanged(changed, 'Nothing is sent until it is enabled again.')}
        />
      );
    case 'delete':
      return (
        <FormDialog
          isDanger
          id="webhook-deletion"
          title="Delete this webhook?"
          lead={`${url} receives nothing more. Its deliveries are removed, including pending ones. This cannot be undone.`}
          submitText="Delete webhook"
          nameToType={new URL(url).host}
          send={() => calls.remove(id)}
          onDone={onDeleted}
        />
      );
  }
}
