/** Form for an endpoint: URL, events and description. */
import type { Outcome } from '../../api.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import { EventChoice } from './event-choice.tsx';
import type { Webhook, WebhookInput } from './webhook-calls.ts';

interface EndpointFormProps<T> {
  readonly of?: Webhook;
  readonly send: (input: WebhookInput) => Promise<Outcome<T>>;
  readonly onDone: (webhook: T) => unknown;
}

export function EndpointForm<T>({ of: webhook, send, onDone }: EndpointFormProps<T>) {
  const form = useForm({
    url: webhook?.url ?? '',
    description: webhook?.description ?? '',
    events: webhook?.events ?? ['*'],
  });
  const { url, description, events } = form.values;
  return (
    <FormDialog
      id="webhook-form"
      title={webhook ? 'Edit webhook' : 'Add webhook'}
      submitText={webhook ? 'Save webhook' : 'Add webhook'}
      form={form}
      fields={[
        {
          kind: 'url',
          id: 'webhook-url',
          name: 'url',
          label: 'Endpoint URL',
          placeholder: 'https://shop.example.com/webhooks/gatehouse',
          hint: webhook
            ? 'Pending deliveries are sent there too.'
            : 'Events are sent to it by POST. It must answer 2xx within 15 seconds.',
        },
        { kind: 'text', id: 'webhook-description', name: 'description', label: 'Description', placeholder: 'Optional' },
        { kind: 'custom', name: 'events', render: (props) => <EventChoice {...props} /> },
      ]}
      send={() => send({ url: url.trim(), events, description: description.trim() || null })}
      onDone={onDone}
    />
  );
}
