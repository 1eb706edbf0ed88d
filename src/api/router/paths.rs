//! The paths of a route table, and what a request matches.

use crate::{
    context::ROOT,
    limits::{RouteMeterId, RouteMeters},
    routes::Route,
};
use actix_web::http::Method;
use std::rc::Rc;

/// A route with its metrics.
pub(super) struct MeteredRoute {
    pub(super) route: Route,
    pub(super) meter: RouteMeterId,
}

/// The routes of one path.
pub(super) struct PathRoutes {
    /// Below [`ROOT`], with its parameters in braces.
    pattern: &'static str,
    /// One for each method.
    routes: Vec<Rc<MeteredRoute>>,
}

impl PathRoutes {
    /// Returns the methods of the path, as the header `Allow` lists them.
    pub(super) fn allowed_methods(&self) -> String {
        let methods = self.routes.iter().map(|metered| metered.route.method());
        let names = methods.flat_map(|method| {
            let head = (*method == Method::GET).then_some("HEAD");
            [method.as_str()].into_iter().chain(head)
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The part of the route table that a request matches.
pub(super) enum Target {
    /// No route has the path.
    NoPath,
    /// The path has routes for other methods only.
    WrongMethod(Rc<PathRoutes>),
    Route(Rc<MeteredRoute>),
}

impl Target {
    /// Returns the path with its parameters in braces, if a route has it.
    pub(super) fn pattern(&self) -> Option<&'static str> {
        match self {
            Self::NoPath => None,
            Self::WrongMethod(path) => Some(path.pattern),
            Self::Route(metered) => Some(metered.route.path()),
        }
    }

    pub(super) fn route(&self) -> Option<&MeteredRoute> {
        match self {
            Self::NoPath | Self::WrongMethod(_) => None,
            Self::Route(metered) => Some(metered),
        }
    }
}

/// The routes of a table by path.
pub(super) struct Paths(matchit::Router<Rc<PathRoutes>>);

impl Paths {
    /// Creates the paths of a table.
    ///
    /// # Panics
    ///
    /// Panics if two patterns of the table match the same path.
    pub(super) fn new(table: Vec<Route>, meters: &RouteMeters) -> Self {
        let mut paths: Vec<PathRoutes> = Vec::new();
        for route in table {
            let meter = meters.id_of(route.method(), route.path());
            let pattern = route.path();
            let metered = Rc::new(MeteredRoute { route, meter });
            match paths.iter_mut().find(|path| path.pattern == pattern) {
                Some(path) => path.routes.push(metered),
                None => paths.push(PathRoutes {
                    pattern,
                    routes: vec![metered],
                }),
            }
        }
        let mut router = matchit::Router::new();
        for path in paths {
            let inserted = router.insert(format!("{ROOT}{}", path.pattern), Rc::new(path));
            inserted.expect("each path fits one pattern");
        }
        Self(router)
    }

    /// Returns what `path` and `method` match.
    pub(super) fn find(&self, path: &str, method: &Method) -> Target {
        let Ok(found) = self.0.at(path) else {
            return Target::NoPath;
        };
        let method = match *method {
            Method::HEAD => &Method::GET,
            _ => method,
        };
        let mut routes = found.value.routes.iter();
        match routes.find(|metered| metered.route.method() == method) {
            Some(metered) => Target::Route(Rc::clone(metered)),
            None => Target::WrongMethod(Rc::clone(found.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;

    fn matched_pattern(path: &str) -> Option<&'static str> {
        let table = routes::table();
        let meters = RouteMeters::of_table(&table);
        let paths = Paths::new(table, &meters);
        paths.0.at(path).ok().map(|found| found.value.pattern)
    }

    #[test]
    fn matches_every_route_by_its_pattern() {
        for route in routes::table() {
            let parts = route.path().split('/');
            let filled = parts.map(|part| if part.starts_with('{') { "7" } else { part });
            let path = format!("{ROOT}{}", filled.collect::<Vec<_>>().join("/"));
            assert_eq!(matched_pattern(&path), Some(route.path()));
        }
    }

    #[test]
    fn rejects_paths_that_only_resemble_a_route() {
        for path in [
            "/",
            "/transactions",
            "/v1/transactions/",
            "/v1//transactions",
            "/v1/transactions/by_hash",
            "/v1/transactions/by_hash/",
            "/v1/transactions/by_hash/7/8",
            "/v1/accounts//balance/7",
            "/v1/Transactions",
        ] {
            assert_eq!(matched_pattern(path), None, "{path}");
        }
    }
}
