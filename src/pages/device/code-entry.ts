/** Browser entry point of the page that takes a device code. */
import { takeUp } from '../browser/take-up.tsx';
import { DeviceCodePage } from './code-page.tsx';

takeUp(DeviceCodePage);
