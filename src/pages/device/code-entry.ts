/** Browser entry point of the page that takes a device code. */
import { hydratePage } from '../browser/hydrate.tsx';
import { DeviceCodePage } from './code-page.tsx';

hydratePage(DeviceCodePage);
