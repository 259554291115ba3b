import { displayName } from '../../core/display-name.ts';
import { Field } from '../components/field.tsx';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { OwnAccount } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { SaveRow } from './save-row.tsx';
import { orNull, useForm } from './use-form.ts';

const MAX_NAME = 100;

export function NamesForm() {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change } = useAccount();
  const { fullName, givenName, familyName } = account.identity;
  const form = useForm(
    { fullName: fullName ?? '', givenName: givenName ?? '', familyName: familyName ?? '' },
    () => text('account.field.line', { max: MAX_NAME }),
    { draft: 'names' },
  );

  async function save(): Promise<void> {
    const { values } = form;
    const names = {
      fullName: orNull(values.fullName),
      givenName: orNull(values.givenName),
      familyName: orNull(values.familyName),
    };
    const identity = { ...account.identity, ...names, name: displayName({ ...names, name: null }) };
    const isSaved = await form.save(() =>
      change(
        { identity },
        () => api.send<OwnAccount['identity']>('PATCH', '/api/account/profile/identity', names),
        (answer) => ({ identity: answer }),
      ),
    );
    if (isSaved) toast(text('account.saved'));
  }

  const field = (name: keyof typeof form.values) => ({
    id: name,
    value: form.values[name],
    label: text(`account.profile.${name}`),
    error: form.errors[name] ?? null,
    onInput: (event: { currentTarget: HTMLInputElement }) => form.set({ [name]: event.currentTarget.value }),
  });

  return (
    <Section id="names" title={text('account.profile.names')} lead={text('account.profile.namesLead')}>
      <form
        noValidate
        id="names-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field {...field('fullName')} autocomplete="name" hint={text('account.profile.fullNameHint')} />
        <div class="pair">
          <Field {...field('givenName')} autocomplete="given-name" />
          <Field {...field('familyName')} autocomplete="family-name" />
        </div>
        <SaveRow id="names-save" isSaving={form.isSaving} isChanged={form.isChanged} />
      </form>
    </Section>
  );
}
