//! The frame of every page, and the headers that restrict what a page may do.

use crate::{
    access::{Identity, Requester},
    admin::CSRF_FIELD,
};
use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
};
use maud::{DOCTYPE, Markup, html};

/// Sources that a page may use: files and data of this listener only. Even text that escaped the
/// templates could neither run as a script nor send anything to another host.
const CONTENT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
                              connect-src 'self'; img-src 'self' data:; form-action 'self'; \
                              base-uri 'none'; frame-ancestors 'none'";

/// A part of the console that the navigation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The stages of the node and the limiting one.
    Overview,
    /// The heaviest clients, and the denial of them.
    Traffic,
    /// The settings, and changes of them.
    Settings,
    /// The checks of the node, and its build.
    Health,
}

impl Section {
    /// The sections in the order of the navigation.
    const ALL: [Self; 4] = [Self::Overview, Self::Traffic, Self::Settings, Self::Health];

    /// Returns the name in the navigation.
    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Traffic => "Traffic",
            Self::Settings => "Settings",
            Self::Health => "Health",
        }
    }

    /// Returns the path of the page.
    fn path(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Traffic => "/console/traffic",
            Self::Settings => "/console/settings",
            Self::Health => "/console/health",
        }
    }
}

/// A page: its content, and the values of the frame around it.
#[derive(Debug)]
pub struct Page<'a> {
    /// Title of the document.
    pub title: &'static str,
    /// Section that the navigation marks, if the page is part of one.
    pub section: Option<Section>,
    /// Client of the page, or `None` if it may see nothing but the page itself.
    pub requester: Option<&'a Requester>,
    /// Messages above the content, each a `div` of the class `banner`.
    pub banners: Markup,
    /// Content of `main`.
    pub content: Markup,
}

impl Page<'_> {
    /// Renders the document.
    fn render(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (self.title) " · ledger-node" }
                    // Without it, a browser asks for /favicon.ico.
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href="/assets/console.css";
                    @if let Some(requester) = self.requester {
                        meta name="csrf-token" content=(requester.csrf_token.expose());
                    }
                    script src="/assets/console.js" defer {}
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        a.name href="/" { "ledger-node" }
                        @if let Some(requester) = self.requester {
                            (self.navigation())
                            (log_out(requester))
                        }
                    }
                    div #banners .banners role="status" { (self.banners) }
                    div #connection .banner.warn hidden {
                        "The node does not respond. The figures are the last ones it sent."
                    }
                    main #main tabindex="-1" {
                        @if self.requester.is_some() {
                            p #change-error .error role="alert" {}
                        }
                        (self.content)
                    }
                    footer.bottom { "ledger-node " (env!("CARGO_PKG_VERSION")) }
                }
            }
        }
    }

    /// Returns the links to the sections.
    fn navigation(&self) -> Markup {
        html! {
            nav aria-label="Sections" {
                ul {
                    @for section in Section::ALL {
                        @let is_current = self.section == Some(section);
                        li {
                            a href=(section.path()) aria-current=[is_current.then_some("page")] {
                                (section.name())
                            }
                        }
                    }
                }
            }
        }
    }

    /// Responds with the page.
    pub fn respond(&self, status: StatusCode) -> HttpResponse {
        HttpResponse::build(status)
            .content_type("text/html; charset=utf-8")
            .insert_header((CONTENT_SECURITY_POLICY, CONTENT_POLICY))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            // Not `no-referrer`, with which a browser sends forms with `Origin: null`.
            .insert_header((REFERRER_POLICY, "same-origin"))
            // A shared cache must not show a page to others, nor a browser after a logout.
            .insert_header((CACHE_CONTROL, "no-store"))
            .body(self.render().into_string())
    }
}

/// Returns the button that ends the session, if the client has one.
fn log_out(requester: &Requester) -> Markup {
    html! {
        @if let Identity::Session(_) = requester.identity {
            form method="post" action="/logout" {
                (csrf_field(requester))
                button.quiet type="submit" { "Log out" }
            }
        }
    }
}

/// Returns the field with which a form of the page is accepted.
pub fn csrf_field(requester: &Requester) -> Markup {
    html! {
        input type="hidden" name=(CSRF_FIELD) value=(requester.csrf_token.expose());
    }
}
