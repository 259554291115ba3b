/** Settings of a well-known product, filled in with this application's values. */
import { useState } from 'preact/hooks';
import { Field } from '../../../pages/components/field.tsx';
import { SelectField } from '../../../pages/components/select-field.tsx';
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Copyable, CopyBox } from '../../components/copy.tsx';
import { type Fact, Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { exampleAddress, PRODUCT_NAMES, productAddress, productOf, type Product } from './openid-snippets.ts';

interface OpenIdProductsProps {
  readonly settings: Schemas['OpenIdSettings'];
  /** Redirect URIs of the form, saved or not. */
  readonly redirectUris: readonly string[];
  readonly onAdd: (redirectUris: readonly string[]) => void;
}

const FIRST = 'Grafana';

export function OpenIdProducts({ settings, redirectUris, onAdd }: OpenIdProductsProps) {
  const [name, setName] = useState(FIRST);
  const [typed, setTyped] = useState('');
  const address = productAddress(typed);
  const product = productOf(name, address ?? exampleAddress(name), settings);
  const missing = product?.redirectUris.filter((uri) => !redirectUris.includes(uri)) ?? [];
  const isWrong = typed.trim() !== '' && address === null;
  return (
    <Panel id="openid-products" title="Set up a product" lead="What to enter in the product, from its documentation.">
      <div class="openid-product-fields">
        <SelectField
          id="openid-product"
          label="Product"
          value={name}
          choices={PRODUCT_NAMES.map((value) => ({ value, label: value }))}
          onChoose={setName}
        />
        <Field
          id="openid-product-address"
          label="Its address"
          inputMode="text"
          autocomplete="off"
          autoCapitalize="none"
          spellcheck={false}
          placeholder={exampleAddress(name)}
          value={typed}
          error={isWrong ? 'Give an address such as https://wiki.example.com.' : null}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </div>
      {product && (
        <>
          <ProductSettings product={product} />
          {address === null ? (
            <p class="fine">Enter the product’s address to add its redirect URIs above.</p>
          ) : (
            <Action
              id="openid-add-redirect-uris"
              isDisabled={missing.length === 0}
              onClick={() => {
                onAdd(missing);
                document.getElementById('openid-redirect-uris')?.focus();
              }}
            >
              {missing.length === 0 ? 'Its redirect URIs are above' : 'Add its redirect URIs above'}
            </Action>
          )}
        </>
      )}
    </Panel>
  );
}

function ProductSettings({ product }: { readonly product: Product }) {
  const { name, docs, redirectUris, place, settings, note } = product;
  return (
    <>
      <Facts
        of={[
          [
            redirectUris.length === 1 ? 'Redirect URI' : 'Redirect URIs',
            <ul class="openid-uris">
              {redirectUris.map((uri) => (
                <li key={uri}>
                  <Copyable value={uri} label="redirect URI" />
                </li>
              ))}
            </ul>,
          ],
          ['Where', place],
        ]}
      />
      {'values' in settings ? (
        <Facts
          of={[
            ...settings.values.map(([label, value]): Fact => [label, <Copyable value={value} label={label} />]),
            ...settings.choices,
          ]}
        />
      ) : (
        <CopyBox key={name} id="openid-snippet" value={settings.code} label={`settings of ${name}`} />
      )}
      <p class="fine openid-note">
        {note && <>{note} </>}
        <a class="link" href={docs} target="_blank" rel="noreferrer">
          {`Documentation of ${name}`}
        </a>
      </p>
    </>
  );
}
