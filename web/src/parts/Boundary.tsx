import { Component, type ReactNode } from 'react';
import { Button } from './Button';

// Boundary keeps a page's fault inside the page: the navigation stays.
export class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override render() {
    if (!this.state.error) return this.props.children;
    return (
      <div className="empty" role="alert">
        <h2>This page failed</h2>
        <p>{this.state.error.message}</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Load it again
        </Button>
      </div>
    );
  }
}
