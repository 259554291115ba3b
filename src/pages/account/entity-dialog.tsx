import { Field } from '../components/field.tsx';
import { SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { type OwnAddress, addressLine, ENTITIES, type OwnEntity } from './address-api.ts';
import { useAccount } from './account-context.tsx';
import { countryChoices } from './choices.ts';
import { EntryDialog, useEntryForm } from './entry-form.tsx';
import { orNull } from './use-form.ts';
import { joined } from './words.ts';

/** Maximum lengths of the API. */
const LENGTHS = { legalName: 200, tradeName: 200, registrationNumber: 50, taxId: 50 };

interface EntityDialogProps {
  readonly entity: OwnEntity | null;
  readonly addresses: readonly OwnAddress[];
  onSaved(): void;
  onClose(): void;
}

export function EntityDialog({ entity, addresses, onSaved, onClose }: EntityDialogProps) {
  const text = useTexts();
  const { account } = useAccount();
  const form = useEntryForm({
    kind: 'entity',
    path: ENTITIES,
    entryId: entity?.id ?? null,
    initial: {
      legalName: entity?.legalName ?? '',
      tradeName: entity?.tradeName ?? '',
      registrationNumber: entity?.registrationNumber ?? '',
      taxId: entity?.taxId ?? '',
      country: entity ? entity.country : (account.region?.['country'] ?? ''),
      addressId: entity?.addressId ?? '',
    },
    lengths: LENGTHS,
    required: () => ['legalName', 'country'],
    labelOf: (line) => text(`account.entity.${line}`),
    onSaved,
  });
  const { values, errors, set } = form;

  function save(): Promise<void> {
    return form.submit({
      legalName: values.legalName,
      tradeName: orNull(values.tradeName),
      registrationNumber: orNull(values.registrationNumber),
      taxId: orNull(values.taxId),
      country: values.country,
      // Sent only when changed, to keep an address that is hidden here.
      ...(values.addressId !== (entity?.addressId ?? '') && { addressId: orNull(values.addressId) }),
    });
  }

  const isHidden = values.addressId !== '' && !addresses.some(({ id }) => id === values.addressId);
  const addressChoices = addresses.map((address) => ({
    value: address.id,
    label: joined(address.label, addressLine(address)),
  }));

  return (
    <EntryDialog kind="entity" isNew={entity === null} isSaving={form.isSaving} onSubmit={save} onClose={onClose}>
      <Field {...form.field('legalName')} autocomplete="organization" />
      <Field {...form.field('tradeName')} />
      <div class="pair">
        <Field {...form.field('registrationNumber')} />
        <Field {...form.field('taxId')} />
      </div>
      <SelectField
        id="entity-country"
        label={text('account.address.country')}
        value={values.country}
        choices={countryChoices(text.locale, entity?.country ?? null)}
        none={text('account.address.countryChoose')}
        error={errors.country}
        onChoose={(country) => set({ country })}
      />
      <SelectField
        id="entity-address"
        label={text('account.entity.address')}
        value={values.addressId}
        choices={
          isHidden
            ? [...addressChoices, { value: values.addressId, label: text('account.elsewhere.title') }]
            : addressChoices
        }
        none={text('account.entity.addressNone')}
        error={errors.addressId}
        onChoose={(addressId) => set({ addressId })}
      />
    </EntryDialog>
  );
}
