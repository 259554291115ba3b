/** Browser entry point of the sign-in page. */
import { hydratePage } from '../browser/hydrate.tsx';
import { SignInPage } from './page.tsx';

hydratePage(SignInPage);
