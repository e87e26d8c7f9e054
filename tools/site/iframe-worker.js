// Browsers start no worker for a page that is read from a folder: there the one that searches lives in a hidden frame.
// The theme's plugin for such pages would load the same from elsewhere, where no script has this name.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.document.open();
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = new Promise((done) => this.inside.addEventListener("load", done));
      this.inside.document.write(`<script src="${new URL(url, location)}"></script>`);
      this.inside.document.close();
    }

    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
