import { Page } from '../parts/Page';
import { Empty } from '../parts/States';

// Everything below /console.
export default function Console() {
  return (
    <Page title="Console">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
